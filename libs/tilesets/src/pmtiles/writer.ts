import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { Bounds, TileFormat } from '@gateway/contracts/basemap.js'
import { temporaryNameBeside } from '@gateway/files/write-atomically.js'
import { Compression, TileType, tileIdToZxy, zxyToTileId } from 'pmtiles'
import type { TileEncoding } from '../tile-set.js'
import type { TileToWrite } from '../tile-to-write.js'
import { HEADER_BYTES, MAGIC, MAX_ROOT_BYTES, SPEC_VERSION } from './layout.js'

export interface PmtilesDescription {
  readonly format: TileFormat
  /** how the data of every tile is already compressed */
  readonly encoding: TileEncoding
  readonly bounds: Bounds
  /** becomes the JSON metadata: name, attribution, description, vector_layers ... */
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface Entry {
  readonly tileId: number
  /** 0: a leaf directory */
  runLength: number
  readonly offset: number
  readonly length: number
}

/** Entries of the first try of a leaf; it doubles until the root directory is small enough. */
const FIRST_LEAF_ENTRIES = 4_096

const TYPE_OF_FORMAT: Readonly<Record<TileFormat, TileType>> = {
  pbf: TileType.Mvt,
  png: TileType.Png,
  jpg: TileType.Jpeg,
  webp: TileType.Webp,
  avif: TileType.Avif,
}

/**
 * Writes a PMTiles 3 archive of demo, test or bench data: clustered, equal tiles stored once, runs of them as one entry. Tiles may come in any
 * order, each address once, zooms up to 26; at least one. All of them are kept in memory. The archive appears under its name when it is
 * complete; nothing is left where this throws.
 */
export async function writePmtiles(
  file: string,
  tiles: Iterable<TileToWrite> | AsyncIterable<TileToWrite>,
  description: PmtilesDescription,
): Promise<void> {
  const sorted: { tileId: number; data: Uint8Array }[] = []
  for await (const { z, x, y, data } of tiles) sorted.push({ tileId: zxyToTileId(z, x, y), data })
  if (sorted.length === 0) throw new Error('an archive needs at least one tile')
  sorted.sort((a, b) => a.tileId - b.tileId)

  const { entries, contents, dataBytes } = cluster(sorted)
  const { root, leaves } = encodeDirectories(entries)
  const metadata = gzipSync(JSON.stringify(description.metadata))
  const sections = [root.length, metadata.length, leaves.length, dataBytes]
  const counts = [sorted.length, entries.length, contents.length]
  const zooms = [sorted[0]!, sorted.at(-1)!].map(({ tileId }) => tileIdToZxy(tileId)[0])
  const header = encodeHeader(sections, counts, zooms, description)

  const temporary = temporaryNameBeside(file)
  try {
    await fs.writeFile(temporary, [header, root, metadata, leaves, ...contents])
    await fs.rename(temporary, file)
  } finally {
    await fs.rm(temporary, { force: true })
  }
}

/** Lays contents out in the order of the first tile that shows them, and joins neighbours of equal content to runs. */
function cluster(sorted: readonly { tileId: number; data: Uint8Array }[]) {
  const entries: Entry[] = []
  const contents: Uint8Array[] = []
  const offsets = new Map<string, number>()
  let dataBytes = 0
  let end = -1
  for (const { tileId, data } of sorted) {
    if (tileId < end) throw new Error(`tile ${tileIdToZxy(tileId).join('/')} comes twice`)
    const digest = createHash('sha256').update(data).digest('base64')
    const offset = offsets.get(digest) ?? dataBytes
    if (offset === dataBytes) {
      offsets.set(digest, offset)
      contents.push(data)
      dataBytes += data.length
    }
    const last = entries.at(-1)
    if (last !== undefined && tileId === end && last.offset === offset) last.runLength++
    else entries.push({ tileId, runLength: 1, offset, length: data.length })
    end = tileId + 1
  }
  return { entries, contents, dataBytes }
}

/** A root directory and, where the entries are too many for it, leaf directories. */
function encodeDirectories(entries: readonly Entry[]): { root: Buffer; leaves: Buffer } {
  // More entries are slow to decode, however well they compress.
  const whole = entries.length <= MAX_ROOT_BYTES ? encodeDirectory(entries) : null
  if (whole !== null && whole.length <= MAX_ROOT_BYTES) return { root: whole, leaves: Buffer.alloc(0) }
  for (let leafEntries = FIRST_LEAF_ENTRIES; ; leafEntries *= 2) {
    const pointers: Entry[] = []
    const leaves: Buffer[] = []
    let offset = 0
    for (let start = 0; start < entries.length; start += leafEntries) {
      const leaf = encodeDirectory(entries.slice(start, start + leafEntries))
      pointers.push({ tileId: entries[start]!.tileId, runLength: 0, offset, length: leaf.length })
      leaves.push(leaf)
      offset += leaf.length
    }
    const root = encodeDirectory(pointers)
    if (root.length <= MAX_ROOT_BYTES) return { root, leaves: Buffer.concat(leaves) }
  }
}

/** PMTiles 3, section 4, gzipped: the count, then tile numbers as differences, run lengths, lengths and offsets, each as a column. */
export function encodeDirectory(entries: readonly Entry[]): Buffer {
  const numbers = [entries.length]
  entries.forEach(({ tileId }, i) => {
    numbers.push(tileId - (entries[i - 1]?.tileId ?? 0))
  })
  for (const { runLength } of entries) numbers.push(runLength)
  for (const { length } of entries) numbers.push(length)
  entries.forEach(({ offset }, i) => {
    const before = entries[i - 1]
    numbers.push(before !== undefined && before.offset + before.length === offset ? 0 : offset + 1)
  })
  return gzipSync(Buffer.from(numbers.flatMap(varint)))
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return [...bytes, rest]
}

/**
 * PMTiles 3, section 3: directories and metadata gzipped, centred on the bounds.
 * @param sections lengths of root directory, metadata, leaf directories and tiles, which follow the header in this order
 * @param counts of addressed tiles, entries and contents
 */
export function encodeHeader(
  sections: readonly number[],
  counts: readonly number[],
  [minZoom = 0, maxZoom = 0]: readonly number[],
  { format, encoding, bounds }: PmtilesDescription,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(MAGIC, 'latin1')
  header[7] = SPEC_VERSION
  let offset = HEADER_BYTES
  const numbers = sections.flatMap((length) => {
    offset += length
    return [offset - length, length]
  })
  for (const [i, number] of [...numbers, ...counts].entries()) header.writeBigUInt64LE(BigInt(number), 8 + 8 * i)
  header[96] = 1
  header[97] = Compression.Gzip
  header[98] = encoding === 'gzip' ? Compression.Gzip : Compression.None
  header[99] = TYPE_OF_FORMAT[format]
  header[100] = minZoom
  header[101] = maxZoom
  header[118] = minZoom
  const [west, south, east, north] = bounds
  for (const [at, degrees] of [
    [102, west],
    [106, south],
    [110, east],
    [114, north],
    [119, (west + east) / 2],
    [123, (south + north) / 2],
  ] as const)
    header.writeInt32LE(Math.round(degrees * 1e7), at)
  return header
}
