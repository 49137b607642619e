import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { LRUCache } from 'lru-cache'
import { Compression, TileType, tileIdToZxy, zxyToTileId } from 'pmtiles'
import { type BufferedFile, writeBuffered } from '../buffered-file.js'
import type { PmtilesDescription, TileToWrite } from '../tile-to-write.js'
import { ownCenter } from '../tilejson.js'
import type { Section } from './header.js'
import { HEADER_BYTES, MAGIC, MAX_ROOT_BYTES, SPEC_VERSION } from './layout.js'

export interface Entry {
  readonly tileId: number
  /** 0: a leaf directory */
  runLength: number
  readonly offset: number
  readonly length: number
}

const TYPE_OF_FORMAT: Readonly<Record<TileFormat, TileType>> = {
  pbf: TileType.Mvt,
  png: TileType.Png,
  jpg: TileType.Jpeg,
  webp: TileType.Webp,
  avif: TileType.Avif,
  mlt: TileType.Mlt,
}

/**
 * Writes a PMTiles 3 archive of at least one tile, in any order, each address once, zooms up to 26. All tiles are kept in memory: for demo, test or bench
 * data. The archive gets its name when it is complete. If this throws, nothing is left.
 */
export async function writePmtiles(
  file: string,
  tiles: Iterable<TileToWrite> | AsyncIterable<TileToWrite>,
  description: PmtilesDescription,
): Promise<void> {
  const sorted: { tileId: number; data: Uint8Array }[] = []
  for await (const { z, x, y, data } of tiles) sorted.push({ tileId: zxyToTileId(z, x, y), data })
  sorted.sort((a, b) => a.tileId - b.tileId)
  await writeSortedPmtiles(file, sorted, description, { expected: sorted.length })
}

/** A tile, or a run of tiles with consecutive numbers and equal content. */
export interface NumberedTile {
  readonly tileId: number
  /** default: 1 */
  readonly runLength?: number
  readonly data: Uint8Array
}

export interface WritingLimits {
  /** maximum number of tiles, which determines the size of leaf directories */
  readonly expected: number
  /** called occasionally with the number of written bytes; an error ends the writing */
  readonly onBytes?: (bytes: number) => void | Promise<void>
  /** zooms for the header, if they differ from those of the tiles; with them the archive may be empty */
  readonly zooms?: () => readonly [first: number, last: number]
}

/** The content of an archive. */
export interface WrittenArchive {
  /** number of addresses with a tile */
  readonly tiles: number
  /** number of stored contents; all other tiles equal one of them */
  readonly contents: number
  readonly bytes: number
  readonly minZoom: number
  readonly maxZoom: number
}

/**
 * Writes a PMTiles 3 archive of at least one tile, in ascending order of tile numbers. It is clustered; equal tiles are stored once, as far as the
 * last `REMEMBERED_CONTENTS` different ones tell, and runs of them are one entry. Memory holds only compressed
 * directories, some 4 bytes per tile. When this resolves, the archive is synced and has its name. If it throws, nothing is left.
 */
export async function writeSortedPmtiles(
  file: string,
  tiles: Iterable<NumberedTile> | AsyncIterable<NumberedTile>,
  description: PmtilesDescription,
  { expected, onBytes, zooms: told }: WritingLimits,
): Promise<WrittenArchive> {
  return writeBuffered(file, async (output) => {
    // Header and root directory are written last, into the space that the standard reserves for them.
    await output.write(Buffer.alloc(DATA_OFFSET))
    const { directories, counts } = await writeTiles(output, tiles, expected, onBytes)
    if (counts.tiles === 0 && told === undefined) throw new Error('an archive needs at least one tile')
    const { root, leaves } = directories.finish()
    const metadata = gzipSync(JSON.stringify(description.metadata))
    const data = { offset: DATA_OFFSET, length: output.position - DATA_OFFSET }
    const leafSection = await append(output, leaves)
    const metadataSection = await append(output, [metadata])
    const rootSection = { offset: HEADER_BYTES, length: root.length }
    const zooms = told?.() ?? [counts.first, counts.last].map((tileId) => tileIdToZxy(tileId)[0])
    const sections = [rootSection, metadataSection, leafSection, data]
    const header = encodeHeader(sections, [counts.tiles, counts.entries, counts.contents], zooms, description)
    await output.overwrite(Buffer.concat([header, root]), 0)
    const [minZoom = 0, maxZoom = 0] = zooms
    return { tiles: counts.tiles, contents: counts.contents, bytes: output.position, minZoom, maxZoom }
  })
}

async function append(output: BufferedFile, parts: readonly Uint8Array[]): Promise<Section> {
  const offset = output.position
  for (const part of parts) await output.write(part)
  return { offset, length: output.position - offset }
}

/** Offset of the tiles: after the 16 KiB for header and root directory (PMTiles 3, section 2). */
const DATA_OFFSET = HEADER_BYTES + MAX_ROOT_BYTES

/** Maximum number of remembered digests of contents, some 80 bytes each. Frequent contents, such as sea and blank tiles, stay. */
const REMEMBERED_CONTENTS = 500_000

/** Number of bytes between two calls of `onBytes`. */
const REPORT_BYTES = 16 * 1024 * 1024

/** Writes contents in the order of their first tile, and joins neighbours of equal content to runs. */
async function writeTiles(
  output: BufferedFile,
  tiles: Iterable<NumberedTile> | AsyncIterable<NumberedTile>,
  expected: number,
  onBytes: WritingLimits['onBytes'],
) {
  const directories = new DirectoryWriter(expected)
  const offsets = new LRUCache<string, number>({ max: Math.max(1, Math.min(expected, REMEMBERED_CONTENTS)) })
  const counts = { tiles: 0, entries: 0, contents: 0, first: -1, last: -1 }
  let reported = 0
  for await (const { tileId, runLength = 1, data } of tiles) {
    if (tileId <= counts.last) throw new Error(`tile ${tileIdToZxy(tileId).join('/')} comes twice, or too late`)
    // 128 bits of a cryptographic digest: collisions are infeasible.
    const digest = createHash('sha256').update(data).digest().toString('latin1', 0, 16)
    let offset = offsets.get(digest)
    if (offset === undefined) {
      offset = output.position - DATA_OFFSET
      offsets.set(digest, offset)
      counts.contents++
      await output.write(data)
      if (onBytes !== undefined && output.position - reported >= REPORT_BYTES) {
        reported = output.position
        await onBytes(reported)
      }
    }
    directories.add({ tileId, runLength, offset, length: data.length })
    if (counts.first < 0) counts.first = tileId
    counts.last = tileId + runLength - 1
    counts.tiles += runLength
  }
  await onBytes?.(output.position)
  counts.entries = directories.entries
  return { directories, counts }
}

/** Minimum entries of a leaf directory, which readers fetch by one request. */
const LEAF_ENTRIES = 4_096

/** Maximum number of leaf directories, so that the root has space for the pointers even if they compress badly. */
const MAX_LEAVES = 1_500

/** Compresses leaf directories as their entries arrive. */
class DirectoryWriter {
  readonly #leafEntries: number
  readonly #leaves: Buffer[] = []
  readonly #pointers: Entry[] = []
  #leafBytes = 0
  #open: Entry[] = []
  entries = 0

  constructor(expected: number) {
    this.#leafEntries = Math.max(LEAF_ENTRIES, Math.ceil(expected / MAX_LEAVES))
  }

  add(entry: Entry): void {
    const last = this.#open.at(-1)
    if (last !== undefined && last.tileId + last.runLength === entry.tileId && last.offset === entry.offset) {
      last.runLength += entry.runLength
      return
    }
    if (this.#open.length === this.#leafEntries) this.#closeLeaf()
    this.#open.push(entry)
    this.entries++
  }

  /** Returns the root directory and, for many entries, leaf directories. */
  finish(): { root: Buffer; leaves: readonly Buffer[] } {
    if (this.#leaves.length === 0) {
      const whole = encodeDirectory(this.#open)
      if (whole.length <= MAX_ROOT_BYTES) return { root: whole, leaves: [] }
    }
    this.#closeLeaf()
    const root = encodeDirectory(this.#pointers)
    if (root.length > MAX_ROOT_BYTES) throw new Error('more tiles came than were expected')
    return { root, leaves: this.#leaves }
  }

  #closeLeaf(): void {
    const leaf = encodeDirectory(this.#open)
    this.#pointers.push({ tileId: this.#open[0]!.tileId, runLength: 0, offset: this.#leafBytes, length: leaf.length })
    this.#leaves.push(leaf)
    this.#leafBytes += leaf.length
    this.#open = []
  }
}

/** PMTiles 3, section 4, in gzip: the count, then tile numbers as differences, run lengths, lengths and offsets, each as a column. */
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
 * PMTiles 3, section 3: directories and metadata in gzip, with the centre of the metadata, or that of the bounds.
 * @param sections root directory, metadata, leaf directories and tiles
 * @param counts of addressed tiles, entries and contents
 */
export function encodeHeader(
  sections: readonly Section[],
  counts: readonly number[],
  [minZoom = 0, maxZoom = 0]: readonly number[],
  { format, encoding, bounds, metadata }: PmtilesDescription,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(MAGIC, 'latin1')
  header[7] = SPEC_VERSION
  const numbers = sections.flatMap(({ offset, length }) => [offset, length])
  for (const [i, number] of [...numbers, ...counts].entries()) header.writeBigUInt64LE(BigInt(number), 8 + 8 * i)
  header[96] = 1
  header[97] = Compression.Gzip
  header[98] = encoding === 'gzip' ? Compression.Gzip : Compression.None
  header[99] = TYPE_OF_FORMAT[format]
  header[100] = minZoom
  header[101] = maxZoom
  const [west, south, east, north] = bounds
  const middle = [(west + east) / 2, (south + north) / 2, minZoom] as const
  const [longitude, latitude, zoom] = ownCenter(metadata.center, { bounds, minZoom, maxZoom }) ?? middle
  header[118] = zoom
  for (const [at, degrees] of [
    [102, west],
    [106, south],
    [110, east],
    [114, north],
    [119, longitude],
    [123, latitude],
  ] as const)
    header.writeInt32LE(Math.round(degrees * 1e7), at)
  return header
}
