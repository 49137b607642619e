import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { isVectorFormat } from '@gateway/contracts/basemap.js'
import { tileIdToZxy, zxyToTileId } from 'pmtiles'
import { isInPyramid } from '../address.js'
import { openColumn, readTileFile, tileFiles } from '../folder/column.js'
import { listNumbers } from '../folder/listing.js'
import { encodingOf } from '../formats.js'
import { openListed } from '../listed-source.js'
import { openDatabase } from '../mbtiles/database.js'
import { addressesOf, prepareTileQuery } from '../mbtiles/queries.js'
import { openArchive } from '../pmtiles/archive.js'
import { MAX_PMTILES_ZOOM } from '../pmtiles/layout.js'
import { RunReader, storedRuns } from '../pmtiles/stored-runs.js'
import type { NumberedTile } from '../pmtiles/writer.js'
import { readExactly } from '../read-exactly.js'
import type { SourceSpec, StoredSet, Tile } from '../source.js'
import type { TileEncoding } from '../tile-set.js'
import { type Area, ZoomArea } from './area.js'
import { MAX_EXPORTED_TILES, TileNumbers, tooMany } from './tile-numbers.js'

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
  return isVectorFormat(format) ? 'gzip' : 'identity'
}

/** Returns a tile in the wanted compression, whatever its stored one is. The writers of the first Mapbox Vector Tiles compressed them by zlib. */
function packed(data: Uint8Array, format: SourceSpec['format']): Uint8Array {
  const encoding = encodingOf(data)
  if (encoding === writtenEncoding(format)) return data
  if (encoding === 'gzip') return gunzipSync(data)
  return gzipSync(format === 'pbf' ? inflated(data) : data)
}

/** Returns the content of a zlib stream (RFC 1950, 2.2), with which no vector tile begins; other data as it is. */
function inflated(data: Uint8Array): Uint8Array {
  const isZlib = data[0] === 0x78 && ((data[0] << 8) | (data[1] ?? 0)) % 31 === 0
  try {
    return isZlib ? inflateSync(data) : data
  } catch {
    return data
  }
}

async function tilesOfFolder(set: StoredSet, area: Area): Promise<StoredTiles> {
  const numbers = new TileNumbers()
  for (const z of await listNumbers(set.root, set.path)) {
    if (z < area.minZoom || z > area.maxZoom) continue
    const within = new ZoomArea(area, z)
    for (const x of await listNumbers(set.root, path.join(set.path, String(z)))) {
      if (!within.hasColumn(x)) continue
      for (const y of openColumn(set, z, x)?.rows ?? []) if (within.hasRow(y)) numbers.add(zxyToTileId(z, x, y))
    }
  }
  const sorted = numbers.sorted()
  const tiles = async function* () {
    for (const tileId of sorted) {
      const files = tileFiles(set, ...tileIdToZxy(tileId))
      const data = files.reduce<Buffer | null>((found, file) => found ?? readTileFile(set.root, file), null)
      // An empty file is no tile.
      if (data === null || data.length === 0) continue
      yield { tileId, data: packed(data, set.format) }
    }
  }
  return { count: sorted.length, tiles: tiles(), close: () => {} }
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
  const sorted = numbers.sorted()
  const tiles = async function* () {
    for (const tileId of sorted) {
      const [z, x, y] = tileIdToZxy(tileId)
      const tile = await source.tile({ z, x, y })
      if (tile === null || tile === 'busy') continue
      const data = await bytesOf(tile)
      if (data.length > 0) yield { tileId, data: packed(data, set.format) }
    }
  }
  return { count: sorted.length, tiles: tiles(), close: () => source.close() }
}

/** Returns the content of a tile, and closes its file. */
export async function bytesOf({ body }: Pick<Tile, 'body'>): Promise<Uint8Array> {
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
    const tiles = async function* () {
      for (const tileId of sorted) {
        const data = query(...tileIdToZxy(tileId))
        if (data === null) continue
        yield { tileId, data: packed(data, set.format) }
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
  const runs = function* () {
    for (const run of storedRuns(archive, first, end)) {
      if (area.bounds === null) yield run
      else
        for (let tileId = run.tileId; tileId < run.tileId + run.runLength; tileId++)
          if (isWithin(tileId)) yield { ...run, tileId, runLength: 1 }
    }
  }
  try {
    let count = 0
    for (const { runLength } of runs()) {
      count += runLength
      if (area.bounds !== null && count > MAX_EXPORTED_TILES) throw tooMany()
    }
    const reader = new RunReader(archive)
    const tiles = async function* () {
      // Successive runs with the same content are read and packed once.
      let offset = -1
      let data: Uint8Array = new Uint8Array(0)
      for (const run of runs()) {
        if (run.offset !== offset) {
          offset = run.offset
          data = packed(Uint8Array.from(reader.read(run)), set.format)
        }
        yield { tileId: run.tileId, runLength: run.runLength, data }
      }
    }
    return { count, tiles: tiles(), close: () => fs.close(archive.fd, () => {}) }
  } catch (error) {
    fs.close(archive.fd, () => {})
    throw error
  }
}
