import type { TileFormat } from '@gateway/contracts/basemap.js'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { isKnownGrid } from '../address.js'
import { BrokenArchiveError, nothingToProbe } from '../broken-archive.js'
import { extentOf, type ZoomExtent } from '../folder/extent.js'
import { kindOf } from '../formats.js'
import { openDatabase } from '../mbtiles/database.js'
import type { MbtilesOpening } from '../mbtiles/opening.js'
import { type DescribedTables, describePages } from '../mbtiles/page-layout.js'
import { quotedName } from '../mbtiles/plain-tables.js'
import { rangesOf } from '../mbtiles/ranges.js'
import type { ListedSource } from '../ranges/source.js'
import { boundsWithoutTiles } from '../rows/by-bounds.js'
import { examineSample, formatBySamples, sampleOf } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { geopackagePlace } from './place.js'
import { addressesOfTable, describeTable, prepareTable, samplesOf, type TileTable, tileTables } from './tile-table.js'

/** Opens a table of tiles for serving, like `openMbtiles` for an archive, and for the same processes. */
export function openTileTable(
  root: string,
  { file, table: name }: { readonly file: string; readonly table: string },
  describes: boolean,
): MbtilesOpening {
  const opened = openDatabase(root, file)
  if (!opened.ok) return opened
  const { database, identity, modifiedMs, fate, size, pages } = opened
  try {
    const table = describeTable(database, name)
    const tile = prepareTable(database, table, size)
    const layout = pages === null || !describes ? null : describePages(database, pages, tablesOf(table))
    return { ok: true, archive: { identity, modifiedMs, fate, tile, layout, close: () => database.close() } }
  } catch (error) {
    database.close()
    throw error
  }
}

function tablesOf({ table, zooms }: TileTable): DescribedTables {
  const stored = [...zooms].map(([zoom, { level, column, row }]) => ({ zoom, level, column, row }))
  return { keys: table, data: null, zooms: stored }
}

/** Returns the names of the tables of tiles in a file, or null if it does not exist. Throws `BrokenArchiveError`. */
export function listTileTables(root: string, file: string): readonly string[] | null {
  const opened = openDatabase(root, file)
  if (!opened.ok) return nothingToProbe(opened)
  try {
    return tileTables(opened.database)
  } finally {
    opened.database.close()
  }
}

/** Examines a table of tiles by its path from `pathOfTable`, or the only table of a file. Returns null without a table or a tile. */
export function probeGeopackage(root: string, path: string): TileSetProbe | null {
  const place = geopackagePlace(path)
  if (place === null) return null
  const opened = openDatabase(root, place.file)
  if (!opened.ok) return nothingToProbe(opened)
  const { database, identity, size } = opened
  try {
    const name = place.table ?? onlyTable(tileTables(database))
    if (name === null) return null
    const table = describeTable(database, name)
    const { zooms, samples } = samplesOf(database, table, size)
    const first = samples.at(-1)
    const [why] = table.warnings
    if (first === undefined && why !== undefined) throw new BrokenArchiveError(why)
    if (first === undefined) return null
    const bytes = formatBySamples(null, [...samples].reverse())
    if (bytes.format === null) throw new BrokenArchiveError('no tile tells the format of the tiles')
    const sample = examineSample(bytes.format, sampleOf(bytes.format, [...samples].reverse()))
    const ranges = isKnownGrid(table.grid) ? deepestRange(database, table, size, zooms.at(-1)!) : []
    const without = isKnownGrid(table.grid) ? boundsWithoutTiles(ranges, table.bounds, table.grid) : null
    return {
      storage: 'geopackage',
      rowsFromNorth: false,
      rowsAssumed: false,
      format: bytes.format,
      formats: bytes.formats,
      tileSize: table.tileMatrices?.tileSize ?? sample.tileSize,
      minZoom: zooms[0]!,
      maxZoom: zooms.at(-1)!,
      bounds: without === null ? table.bounds : extentOf(ranges, 'xyz', { tileMatrixSet: table.grid }),
      boundsDerived: without !== null,
      name: table.name,
      attribution: null,
      description: table.description,
      vectorLayers: null,
      tileMatrixSet: table.grid,
      ...(table.tileMatrices && { tileMatrices: table.tileMatrices }),
      metadata: {},
      extension: bytes.format,
      encoding: sample.encoding,
      fingerprint: `${identity}-${name}`,
      warnings: [...table.warnings, ...bytes.warnings, ...(without === null ? [] : [without]), ...sample.warnings],
    }
  } finally {
    database.close()
  }
}

/** The columns and rows of the tiles of a zoom, in the grid; empty if they are not known. */
function deepestRange(database: DatabaseSyncInstance, table: TileTable, size: number, z: number): ZoomExtent[] {
  const { level, column, row } = table.zooms.get(z)!
  return rangesOf(database, size, [level], { keys: quotedName(table.table) })
    .filter((range) => range.z === level)
    .map(({ complete, minColumn, maxColumn, minRow, maxRow }) => ({
      z,
      complete,
      minColumn: minColumn + column,
      maxColumn: maxColumn + column,
      minRow: minRow + row,
      maxRow: maxRow + row,
    }))
}

function onlyTable(tables: readonly string[]): string | null {
  if (tables.length > 1) throw new BrokenArchiveError('the GeoPackage has several tables of tiles')
  return tables[0] ?? null
}

/** Opens a table of tiles as a source. Blocks while SQLite works, so it is only for processes that handle no requests. null: it does not exist. */
export function openTable(root: string, path: string, format: TileFormat): ListedSource | null {
  const place = geopackagePlace(path)
  const opened = place === null ? null : openDatabase(root, place.file)
  if (!opened?.ok) return null
  const { database, identity, modifiedMs, size } = opened
  try {
    const name = place?.table ?? onlyTable(tileTables(database))
    if (name === null) throw new BrokenArchiveError('the GeoPackage holds no tiles')
    const table = describeTable(database, name)
    const query = prepareTable(database, table, size)
    return {
      async tile({ z, x, y }) {
        const body = query(z, x, y)
        if (body === null) return null
        return { body, ...kindOf(format, body), identity: `${identity}-${z}-${x}-${y}`, modifiedMs, file: null }
      },
      addresses: async function* (zoom) {
        yield* addressesOfTable(database, table, zoom)
      },
      close: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error
  }
}
