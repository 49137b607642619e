import { gzipSync } from 'node:zlib'
import { MAX_ROOT_BYTES } from './layout.js'

export interface DirectoryEntry {
  readonly tileId: number
  /** 0: a leaf directory */
  runLength: number
  readonly offset: number
  readonly length: number
}

/** Entries of the first try of a leaf; it doubles until the root directory is small enough. */
const FIRST_LEAF_ENTRIES = 4_096

/** Encodes entries, ascending by tile number, as a root directory and, where they are too many for it, leaf directories. */
export function encodeDirectories(entries: readonly DirectoryEntry[]): { root: Buffer; leaves: Buffer } {
  const whole = entries.length <= MAX_ROOT_BYTES ? encodeDirectory(entries) : null
  if (whole !== null && whole.length <= MAX_ROOT_BYTES) return { root: whole, leaves: Buffer.alloc(0) }
  for (let leafEntries = FIRST_LEAF_ENTRIES; ; leafEntries *= 2) {
    const { root, leaves } = encodeLeaves(entries, leafEntries)
    if (root.length <= MAX_ROOT_BYTES) return { root, leaves }
  }
}

function encodeLeaves(entries: readonly DirectoryEntry[], leafEntries: number): { root: Buffer; leaves: Buffer } {
  const pointers: DirectoryEntry[] = []
  const leaves: Buffer[] = []
  let offset = 0
  for (let start = 0; start < entries.length; start += leafEntries) {
    const leaf = encodeDirectory(entries.slice(start, start + leafEntries))
    pointers.push({ tileId: entries[start]!.tileId, runLength: 0, offset, length: leaf.length })
    leaves.push(leaf)
    offset += leaf.length
  }
  return { root: encodeDirectory(pointers), leaves: Buffer.concat(leaves) }
}

/** PMTiles 3, section 4, gzipped: the count, then tile numbers as differences, run lengths, lengths and offsets, each as a column. */
function encodeDirectory(entries: readonly DirectoryEntry[]): Buffer {
  const bytes: number[] = []
  pushVarint(bytes, entries.length)
  let last = 0
  for (const { tileId } of entries) {
    pushVarint(bytes, tileId - last)
    last = tileId
  }
  for (const { runLength } of entries) pushVarint(bytes, runLength)
  for (const { length } of entries) pushVarint(bytes, length)
  let end = -1
  for (const { offset, length } of entries) {
    pushVarint(bytes, offset === end ? 0 : offset + 1)
    end = offset + length
  }
  return gzipSync(Buffer.from(bytes))
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
}
