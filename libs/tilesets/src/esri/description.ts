import type { Bounds, KnownTileMatrixSetId, TileMatrices, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { parseOutsideJson } from '@gateway/core/files/outside-json.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { isGaussKrueger, ownMatrices, ownSetId, zoneOf } from '../gauss-krueger.js'
import { degreesOf, fitInGrid, gridOfCode } from '../grid-fit.js'
import { readText } from '../metadata/fields.js'
import { isRecord, SERVED_SYSTEMS } from '../metadata/metadata.js'
import { TILE_MATRIX_SETS } from '../tile-matrix-sets.js'
import type { CacheFiles } from './files.js'

/** Maximum number of levels of a tiling scheme. */
const MAX_LEVELS = 100

/** The content of `conf.xml` and `conf.cdi`, or of `root.json`. */
export interface CacheDescription {
  /** prefix of the names of the cache's other files: empty, or ends in a slash */
  readonly base: string
  readonly grid: TileMatrixSetId
  /** the numbers of the cache's own grid */
  readonly tileMatrices?: TileMatrices
  /** the level of each zoom that the cache's scheme has */
  readonly levels: ReadonlyMap<number, number>
  /** levels that match no zoom of the grid, with a description of their matrices */
  readonly otherLevels: ReadonlyMap<number, string>
  readonly bounds: Bounds | null
  /** `PNG32`, `MIXED`, `pbf` ...; empty if not given */
  readonly format: string
  /** location of the tiles in `root.json`; null if not given */
  readonly tilesPath: string | null
  readonly name: string | null
  readonly attribution: string | null
  readonly description: string | null
  /** the bytes that were read, for the fingerprint */
  readonly content: readonly Uint8Array[]
}

/** Possible folders of the describing file: ArcGIS Server uses `Layers`, a vector tile package `p12`. */
const BASES = ['', 'Layers/', 'p12/']

/** Returns null if this folder describes no cache. Rejects with `BrokenArchiveError` if the tiles lie in an unsupported grid. */
export async function describeCache(files: CacheFiles): Promise<CacheDescription | null> {
  for (const base of BASES) {
    const conf = await files.read(`${base}conf.xml`)
    if (conf !== null) {
      const envelope = await files.read(`${base}conf.cdi`)
      const parsed = await readConf(conf, envelope)
      return toDescription(base, parsed, envelope === null ? [conf] : [conf, envelope])
    }
    const json = await files.read(`${base}root.json`)
    if (json === null) continue
    const fields = parseJson(json)
    if (isRecord(fields) && isRecord(fields.tileInfo)) return toDescription(base, readRoot(fields), [json])
  }
  return null
}

interface Level {
  readonly level: number
  readonly resolution: number
  readonly scale: number
}

interface Said {
  readonly code: number
  readonly left: number
  readonly top: number
  readonly columns: number
  readonly rows: number
  readonly dpi: number
  readonly levels: readonly Level[]
  readonly extent: { readonly bounds: Bounds; readonly code: number } | null
  readonly format: string
  readonly storage: string
  readonly packetSize: number
  readonly tilesPath: string | null
  readonly name: unknown
  readonly attribution: unknown
  readonly description: unknown
}

function toDescription(base: string, said: Said, content: readonly Uint8Array[]): CacheDescription {
  const { storage } = said
  if (storage === 'esriMapCacheStorageModeCompact') throw new BrokenArchiveError(COMPACT_V1)
  if (/^lerc/i.test(said.format))
    throw new BrokenArchiveError(`its tiles are elevations (${said.format}), which no map client draws`)
  if (Number.isFinite(said.packetSize) && said.packetSize !== 0 && said.packetSize !== 128)
    throw new BrokenArchiveError(
      `its bundles hold ${said.packetSize} by ${said.packetSize} tiles; only 128 by 128 are read`,
    )
  return { base, ...placeOf(said), ...aboutOf(said), content }
}

/** Which levels are which zooms of which grid, and where the tiles are. */
function placeOf(said: Said): Pick<CacheDescription, 'grid' | 'tileMatrices' | 'levels' | 'otherLevels' | 'bounds'> {
  if (isGaussKrueger(said.code)) return ownPlace(said)
  const { code, left, top, columns, rows } = said
  const grid = gridOfCode(code)
  if (grid === null)
    throw new BrokenArchiveError(
      `its tiles are in the system ${Number.isNaN(code) ? 'of no WKID' : code}; only ${SERVED_SYSTEMS} (102100 is 3857) are served`,
    )
  const { extent, crs } = TILE_MATRIX_SETS[grid]
  const levels = new Map<number, number>()
  const otherLevels = new Map<number, string>()
  for (const one of said.levels) {
    const resolution = resolutionOf(one, said.dpi, grid)
    const fit = fitInGrid(grid, { left, top, tileWidth: resolution * columns, tileHeight: resolution * rows })
    if (fit !== null && fit.column === 0 && fit.row === 0 && !levels.has(fit.z)) levels.set(fit.z, one.level)
    else otherLevels.set(one.level, `level ${one.level}: scale ${one.scale}, ${resolution} units per pixel`)
  }
  if (levels.size === 0) {
    const numbers = [...otherLevels.values()].slice(0, 3).join('; ')
    throw new BrokenArchiveError(
      `its origin ${left}, ${top} and scales (${numbers || 'none'}; tiles of ${columns} by ${rows} pixels) are not those of ${crs}'s grid, ` +
        `whose origin is ${extent[0]}, ${extent[3]} and whose zoom 0 has ${TILE_MATRIX_SETS[grid].cellSize} units per pixel of 256`,
    )
  }
  return { grid, levels, otherLevels, bounds: said.extent === null ? null : boundsOf(grid, said.extent) }
}

/** Describes a cache in a zone of Gauss-Kruger: its scheme is the grid, and its levels are zooms from the coarsest one on. */
function ownPlace({ code, left, top, columns, rows, dpi, levels: said, extent }: Said) {
  const sorted = said
    .map((one) => ({ level: one.level, resolution: resolutionOf(one, dpi, null) }))
    .sort((a, b) => b.resolution - a.resolution)
  const resolutions = sorted.map(({ resolution }) => resolution)
  const tileMatrices = ownMatrices({ code, left, top, columns, rows, resolutions })
  return {
    grid: ownSetId(tileMatrices),
    tileMatrices,
    levels: new Map(sorted.map(({ level }, z) => [z, level])),
    otherLevels: new Map<number, string>(),
    bounds: extent === null ? null : ownBounds(code, extent),
  }
}

/** Returns an extent in degrees, given in the zone's own units or in degrees; null if it makes no sense. */
function ownBounds(zone: number, { bounds, code }: NonNullable<Said['extent']>): Bounds | null {
  if (!bounds.every(Number.isFinite) || bounds[0] >= bounds[2] || bounds[1] >= bounds[3]) return null
  const own = Number.isNaN(code) ? zone : code
  if (own !== zone && !isGaussKrueger(own)) return boundsOf('WorldCRS84Quad', { bounds, code })
  const degrees = zoneOf(own).toDegrees(bounds)
  return degrees.every(Number.isFinite) ? degrees : null
}

function aboutOf(said: Said): Pick<CacheDescription, 'format' | 'tilesPath' | 'name' | 'attribution' | 'description'> {
  const warnings: string[] = []
  return {
    format: said.format,
    tilesPath: said.tilesPath,
    name: readText('name', said.name, warnings),
    attribution: readText('attribution', said.attribution, warnings),
    description: readText('description', said.description, warnings),
  }
}

/** A message, because the specification of this format was never published. */
export const COMPACT_V1 =
  'it is an Esri compact cache of version 1 (.bundlx), whose form is not published: convert it with ArcGIS (Export Tile Cache or Import ' +
  'Map Server Cache, storage format "Compact v2")'

const METRES_PER_INCH = 0.0254
/** For the radius of 6,378,137 m, by which Esri computes scales of geographic systems. */
const METRES_PER_DEGREE = (Math.PI * 6_378_137) / 180

/** @param grid null: one in metres */
function resolutionOf({ resolution, scale }: Level, dpi: number, grid: KnownTileMatrixSetId | null): number {
  if (resolution > 0) return resolution
  const metres = (scale * METRES_PER_INCH) / (dpi > 0 ? dpi : 96)
  return grid === null || grid === 'WebMercatorQuad' ? metres : metres / METRES_PER_DEGREE
}

function boundsOf(grid: KnownTileMatrixSetId, { bounds, code }: NonNullable<Said['extent']>): Bounds | null {
  if (!bounds.every(Number.isFinite)) return null
  const own = Number.isNaN(code) ? grid : gridOfCode(code)
  const cut = own === null ? null : degreesOf(own, bounds)
  // Degrees are cut at the ends of the grid as well.
  return cut === null || own === grid ? cut : degreesOf(grid, toUnits(grid, cut))
}

function toUnits(grid: KnownTileMatrixSetId, bounds: Bounds): Bounds {
  const { extent, columns } = TILE_MATRIX_SETS[grid]
  if (columns === 2) return bounds
  const x = (longitude: number) => (longitude / 180) * extent[2]
  const y = (latitude: number) => (Math.asinh(Math.tan((latitude * Math.PI) / 180)) / Math.PI) * extent[3]
  return [x(bounds[0]), y(bounds[1]), x(bounds[2]), y(bounds[3])]
}

/** Returns a value of parsed XML or JSON by its path; undefined if it does not exist. */
function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((inside, name) => (isRecord(inside) ? inside[name] : undefined), value)
}

const toNumber = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : Number.NaN

const toText = (value: unknown) => (typeof value === 'string' ? value.trim() : '')

async function readConf(conf: Buffer, envelope: Buffer | null): Promise<Said> {
  const cache = at(await parseXml('conf.xml', conf), 'CacheInfo')
  const tiles = at(cache, 'TileCacheInfo')
  const box = envelope === null ? undefined : at(await parseXml('conf.cdi', envelope), 'EnvelopeN')
  const lods = at(tiles, 'LODInfos', 'LODInfo')
  const listed = Array.isArray(lods) ? lods : lods === undefined ? [] : [lods]
  return {
    code: codeOf(at(tiles, 'SpatialReference'), 'WKID', 'LatestWKID'),
    left: toNumber(at(tiles, 'TileOrigin', 'X')),
    top: toNumber(at(tiles, 'TileOrigin', 'Y')),
    columns: toNumber(at(tiles, 'TileCols')),
    rows: toNumber(at(tiles, 'TileRows')),
    dpi: toNumber(at(tiles, 'DPI')),
    levels: listed.slice(0, MAX_LEVELS).map((lod) => ({
      level: toNumber(at(lod, 'LevelID')),
      resolution: toNumber(at(lod, 'Resolution')),
      scale: toNumber(at(lod, 'Scale')),
    })),
    extent:
      box === undefined
        ? null
        : {
            bounds: ['XMin', 'YMin', 'XMax', 'YMax'].map((name) => toNumber(at(box, name))) as unknown as Bounds,
            code: codeOf(at(box, 'SpatialReference'), 'WKID', 'LatestWKID'),
          },
    format: toText(at(cache, 'TileImageInfo', 'CacheTileFormat')),
    storage: toText(at(cache, 'CacheStorageInfo', 'StorageFormat')),
    packetSize: toNumber(at(cache, 'CacheStorageInfo', 'PacketSize')),
    tilesPath: null,
    name: null,
    attribution: null,
    description: null,
  }
}

function readRoot(root: Record<string, unknown>): Said {
  const info = root.tileInfo
  const lods = at(info, 'lods')
  const listed: unknown[] = Array.isArray(lods) ? lods : []
  const extent = [root.fullExtent, root.initialExtent].find(isRecord)
  const storage = at(root, 'storageInfo') ?? at(root, 'resourceInfo', 'cacheInfo', 'storageInfo')
  const own = codeOf(at(info, 'spatialReference'), 'wkid', 'latestWkid')
  return {
    code: Number.isNaN(own) ? codeOf(root.spatialReference, 'wkid', 'latestWkid') : own,
    left: toNumber(at(info, 'origin', 'x')),
    top: toNumber(at(info, 'origin', 'y')),
    columns: toNumber(at(info, 'cols')),
    rows: toNumber(at(info, 'rows')),
    dpi: toNumber(at(info, 'dpi')),
    levels: listed.slice(0, MAX_LEVELS).map((lod) => ({
      level: toNumber(at(lod, 'level')),
      resolution: toNumber(at(lod, 'resolution')),
      scale: toNumber(at(lod, 'scale')),
    })),
    extent:
      extent === undefined
        ? null
        : {
            bounds: ['xmin', 'ymin', 'xmax', 'ymax'].map((name) => toNumber(extent[name])) as unknown as Bounds,
            code: codeOf(extent.spatialReference, 'wkid', 'latestWkid'),
          },
    format: toText(at(root, 'tileImageInfo', 'format')) || toText(at(info, 'format')),
    storage: toText(at(storage, 'storageFormat')),
    packetSize: toNumber(at(storage, 'packetSize') ?? at(storage, 'packetsize')),
    tilesPath: typeof root.tileBundlesPath === 'string' ? root.tileBundlesPath : null,
    name: root.name,
    attribution: root.copyrightText,
    description: root.serviceDescription || root.description,
  }
}

/** Returns the supported one of both codes, or else the given one. */
function codeOf(reference: unknown, ...names: readonly string[]): number {
  const codes = names.map((name) => toNumber(at(reference, name)))
  return (
    codes.find((code) => gridOfCode(code) !== null || isGaussKrueger(code)) ??
    codes.find((code) => !Number.isNaN(code)) ??
    Number.NaN
  )
}

async function parseXml(name: string, text: Buffer): Promise<unknown> {
  const { XMLParser } = await import('fast-xml-parser')
  const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false, processEntities: false })
  try {
    return parser.parse(text.toString('utf8').replace(/^\uFEFF/, ''))
  } catch {
    throw new BrokenArchiveError(`${name} is not XML`)
  }
}

function parseJson(text: Buffer): unknown {
  try {
    return parseOutsideJson(text.toString('utf8').replace(/^\uFEFF/, ''))
  } catch {
    throw new BrokenArchiveError('root.json is not JSON')
  }
}
