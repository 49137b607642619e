import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { tileIdToZxy, zxyToTileId } from 'pmtiles'
import { flipRow, isInPyramid, parseIndex } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { listNames, listNumbers } from '../folder/listing.js'
import { openFolder } from '../folder/source.js'
import { encodingOf } from '../formats.js'
import { openListed } from '../listed-source.js'
import { openDatabase } from '../mbtiles/database.js'
import { addressesOf, prepareTileQuery } from '../mbtiles/queries.js'
import { openArchive, type PmtilesArchive, unpackDirectory } from '../pmtiles/archive.js'
import type { Directory } from '../pmtiles/directory.js'
import { encodingOfTiles } from '../pmtiles/header.js'
import { MAX_DIRECTORY_BYTES, MAX_LEAF_DEPTH, MAX_PMTILES_ZOOM } from '../pmtiles/layout.js'
import type { NumberedTile } from '../pmtiles/writer.js'
import { readExactly } from '../read-exactly.js'
import type { Source, SourceSpec, Tile } from '../source.js'
import type { TileEncoding } from '../tile-set.js'
import { type Area, ZoomArea } from './area.js'
import { MAX_EXPORTED_TILES, TileNumbers, tooMany } from './tile-numbers.js'

/** A set in Web Mercator on a disk of this machine. */
export type StoredSet = Pick<SourceSpec, 'storage' | 'rowsFromNorth' | 'format' | 'path' | 'root' | 'extension'>

export interface StoredTiles {
  /** maximum number of tiles; equal neighbours may come as one run */
  readonly count: number
  /** in ascending order of their numbers; tiles that have gone meanwhile are omitted */
  readonly tiles: AsyncIterable<NumberedTile>
  close(): void
}

/**
 * Returns all tiles of a set in an area, for an archive: images uncompressed, vector tiles with gzip, whatever their stored form. Returns null if the set
 * does not exist. It waits for the disk and SQLite without limit, so it must run in a separate process. Throws `BrokenArchiveError` and the
 * disk's errors.
 */
export async function storedTiles(set: StoredSet, area: Area): Promise<StoredTiles | null> {
  const bounded = { ...area, maxZoom: Math.min(area.maxZoom, MAX_PMTILES_ZOOM) }
  switch (set.storage) {
    case 'xyz':
    case 'tms':
      return tilesOfFolder(set, bounded)
    case 'mbtiles':
      return tilesOfMbtiles(set, bounded)
    case 'pmtiles':
      return tilesOfPmtiles(set, bounded)
    default:
      return tilesOfListed(set, bounded)
  }
}

/** Returns the compression of written tiles: gzip for vector tiles by convention, and one for all tiles of an archive. */
export function writtenEncoding(format: SourceSpec['format']): TileEncoding {
  return format === 'pbf' ? 'gzip' : 'identity'
}

function packed(data: Uint8Array, encoding: TileEncoding, wanted: TileEncoding): Uint8Array {
  if (encoding === wanted) return data
  return wanted === 'gzip' ? gzipSync(data) : gunzipSync(data)
}

async function tilesOfFolder(set: StoredSet, area: Area): Promise<StoredTiles | null> {
  const numbers = new TileNumbers()
  for (const z of await listNumbers(set.root, set.path)) {
    if (z < area.minZoom || z > area.maxZoom) continue
    const within = new ZoomArea(area, z)
    const folder = path.join(set.path, String(z))
    for (const x of await listNumbers(set.root, folder)) {
      if (!within.hasColumn(x)) continue
      for (const name of await listNames(set.root, path.join(folder, String(x)))) {
        const dot = name.indexOf('.')
        if (name.slice(dot + 1) !== set.extension) continue
        const row = parseIndex(name.slice(0, dot))
        const y = set.storage === 'tms' ? flipRow(z, row) : row
        if (row >= 0 && within.hasRow(y)) numbers.add(zxyToTileId(z, x, y))
      }
    }
  }
  return tilesOfSource(await openFolder({ ...set, id: 0, isRemote: false }, null), set, numbers)
}

async function tilesOfListed(set: StoredSet, area: Area): Promise<StoredTiles | null> {
  const source = await openListed({ ...set, id: 0, isRemote: false })
  if (source === null) return null
  const numbers = new TileNumbers()
  for (let z = area.minZoom; z <= area.maxZoom; z++) {
    const within = new ZoomArea(area, z)
    for await (const [x, y] of source.addresses(z)) {
      if (isInPyramid(z, x, y) && within.has(x, y)) numbers.add(zxyToTileId(z, x, y))
    }
  }
  return tilesOfSource(source, set, numbers)
}

/** Reads the tiles with these numbers. */
function tilesOfSource(source: Source, { format }: StoredSet, numbers: TileNumbers): StoredTiles {
  const sorted = numbers.sorted()
  const wanted = writtenEncoding(format)
  const tiles = async function* () {
    for (const tileId of sorted) {
      const [z, x, y] = tileIdToZxy(tileId)
      const tile = await source.tile({ z, x, y })
      if (tile === null || tile === 'busy') continue
      const data = await bytesOf(tile)
      if (data.length > 0) yield { tileId, data: packed(data, tile.encoding, wanted) }
    }
  }
  return { count: sorted.length, tiles: tiles(), close: () => source.close() }
}

async function bytesOf({ body }: Tile): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  try {
    return await readExactly(body.fd, body.offset, body.length)
  } finally {
    body.release()
  }
}

function tilesOfMbtiles(set: StoredSet, area: Area): StoredTiles | null {
  const opened = openDatabase(set.root, set.path)
  if (!opened.ok) return null
  const { database, size } = opened
  try {
    const query = prepareTileQuery(database, size, set.rowsFromNorth)
    const numbers = new TileNumbers()
    for (let z = area.minZoom; z <= area.maxZoom; z++) {
      const within = new ZoomArea(area, z)
      for (const [x, y] of addressesOf(database, z, set.rowsFromNorth))
        if (within.has(x, y)) numbers.add(zxyToTileId(z, x, y))
    }
    const sorted = numbers.sorted()
    const wanted = writtenEncoding(set.format)
    const tiles = async function* () {
      for (const tileId of sorted) {
        const data = query(...tileIdToZxy(tileId))
        if (data === null) continue
        yield { tileId, data: packed(data, set.format === 'pbf' ? encodingOf(data) : 'identity', wanted) }
      }
    }
    return { count: sorted.length, tiles: tiles(), close: () => database.close() }
  } catch (error) {
    database.close()
    throw error
  }
}

async function tilesOfPmtiles(set: StoredSet, area: Area): Promise<StoredTiles | null> {
  const opening = await openArchive(set.root, set.path)
  if (!opening.ok) return null
  const { archive } = opening
  const wanted = writtenEncoding(set.format)
  const encoding = encodingOfTiles(archive.header.tileCompression, archive.header.tileType)
  const areas = new Map<number, ZoomArea>()
  const isWithin = (tileId: number): boolean => {
    const [z, x, y] = tileIdToZxy(tileId)
    if (z < area.minZoom || z > area.maxZoom) return false
    const within = areas.get(z) ?? new ZoomArea(area, z)
    areas.set(z, within)
    return within.has(x, y)
  }
  const { header } = archive
  const first = zxyToTileId(Math.max(area.minZoom, header.minZoom), 0, 0)
  const end = zxyToTileId(Math.min(area.maxZoom, header.maxZoom, MAX_PMTILES_ZOOM - 1) + 1, 0, 0)
  const entries = async function* () {
    for await (const entry of entriesOf(archive, archive.root, first, end, 0)) {
      yield* runsWithin(entry, first, end, area.bounds === null ? null : isWithin)
    }
  }
  try {
    let count = 0
    for await (const { runLength } of entries()) {
      count += runLength
      if (area.bounds !== null && count > MAX_EXPORTED_TILES) throw tooMany()
    }
    const tiles = async function* () {
      for await (const { tileId, runLength, offset, length } of entries()) {
        const { fd, header } = archive
        if (offset + length > header.tiles.length) throw new BrokenArchiveError('a tile lies beyond the tile data')
        const data = await readExactly(fd, header.tiles.offset + offset, length)
        yield { tileId, runLength, data: packed(data, encoding, wanted) }
      }
    }
    return { count, tiles: tiles(), close: () => fs.close(archive.fd, () => {}) }
  } catch (error) {
    fs.close(archive.fd, () => {})
    throw error
  }
}

interface Run {
  readonly tileId: number
  readonly runLength: number
  readonly offset: number
  readonly length: number
}

/** Yields entries of tiles whose numbers are in [first, end), in ascending order. Leaves without such entries are not read. */
async function* entriesOf(
  archive: PmtilesArchive,
  { tileIds, runLengths, offsets, lengths }: Directory,
  first: number,
  end: number,
  depth: number,
): AsyncGenerator<Run> {
  for (let i = 0; i < tileIds.length; i++) {
    const [tileId, runLength, offset, length] = [tileIds[i]!, runLengths[i]!, offsets[i]!, lengths[i]!]
    if (tileId >= end) return
    if (runLength > 0) {
      if (tileId + runLength > first) yield { tileId, runLength, offset, length }
      continue
    }
    if ((tileIds[i + 1] ?? Number.POSITIVE_INFINITY) <= first) continue
    if (depth === MAX_LEAF_DEPTH) throw new BrokenArchiveError(`directories are nested more than ${depth} deep`)
    const { header, fd } = archive
    if (offset + length > header.leaves.length || length > MAX_DIRECTORY_BYTES)
      throw new BrokenArchiveError('a directory is larger than allowed, or lies beyond its section')
    const leaf = unpackDirectory(header, await readExactly(fd, header.leaves.offset + offset, length))
    yield* entriesOf(archive, leaf, first, end, depth + 1)
  }
}

/** Yields the selected parts of a run. */
function* runsWithin(
  { tileId, runLength, offset, length }: Run,
  first: number,
  end: number,
  isWithin: ((tileId: number) => boolean) | null,
): Generator<Run> {
  const from = Math.max(tileId, first)
  const to = Math.min(tileId + runLength, end)
  if (isWithin === null) {
    if (from < to) yield { tileId: from, runLength: to - from, offset, length }
    return
  }
  for (let id = from; id < to; id++) if (isWithin(id)) yield { tileId: id, runLength: 1, offset, length }
}
