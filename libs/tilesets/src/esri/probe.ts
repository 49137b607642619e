import type { Storage, TileFormat, TileMatrixSetId, VectorLayer } from '@gateway/contracts/basemap.js'
import { parseOutsideJson } from '@gateway/core/files/outside-json.js'
import { BrokenArchiveError, nothingToProbe } from '../broken-archive.js'
import { extentOf } from '../folder/extent.js'
import { describeFolder, readStart } from '../folder/probe.js'
import { formatOfExtension } from '../formats.js'
import { FOLDER_LAYOUTS } from '../layouts/layout.js'
import { listLayout } from '../layouts/listing.js'
import { layoutFingerprint } from '../layouts/probe.js'
import { isRecord, NO_METADATA } from '../metadata/metadata.js'
import { finish, RangeSource } from '../ranges/source.js'
import { examineSample, formatBySamples, SAMPLE_BYTES, sampleOf } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { BundleLayout } from './bundles.js'
import {
  type BundleListing,
  bundleOf,
  cacheFingerprint,
  type EsriCache,
  isRow,
  levelFolder,
  listBundles,
  openCache,
  parseBundle,
} from './cache.js'

/** Examines an Esri cache: its description, the names of its bundles or folders, and two tiles. Returns null without a cache or a tile. */
export async function probeEsri(
  root: string,
  file: string,
  storage: 'tpkx' | 'vtpk' | null,
): Promise<TileSetProbe | null> {
  const opening = await openCache(root, file, storage !== null)
  if (opening === null) return null
  if (!opening.ok) return nothingToProbe(opening)
  try {
    const { cache, identity } = opening
    if (cache.isExploded) return storage === null ? await probeExploded(root, file, cache) : refuseExploded()
    const zooms = await listBundles(cache)
    if (zooms.length === 0) return null
    const fingerprint = identity === '' ? await cacheFingerprint(cache, zooms) : identity
    return await probeBundles(root, file, cache, zooms, storage ?? 'esri_compact', fingerprint)
  } finally {
    opening.close()
  }
}

function refuseExploded(): never {
  throw new BrokenArchiveError(
    'the package holds an exploded cache; only bundles (Compact Cache V2) are read out of a package',
  )
}

async function probeBundles(
  root: string,
  file: string,
  cache: EsriCache,
  zooms: readonly BundleListing[],
  storage: Storage,
  fingerprint: string,
): Promise<TileSetProbe> {
  const { about } = cache
  const starts = await firstTiles(root, file, cache, zooms)
  const said = saidFormat(about.format) ?? (storage === 'vtpk' ? 'pbf' : null)
  const bytes = formatBySamples(said, starts)
  if (bytes.format === null)
    throw new BrokenArchiveError('neither the description nor a tile tells the format of the tiles')
  const sample = examineSample(bytes.format, sampleOf(bytes.format, starts))
  const own = about.tileMatrices === undefined ? {} : { tileMatrices: about.tileMatrices }
  const box = extentOf(zooms, 'xyz', { tileMatrixSet: about.grid, ...own })
  return {
    storage,
    rowsFromNorth: false,
    rowsAssumed: false,
    format: bytes.format,
    formats: bytes.formats,
    tileSize: about.tileMatrices?.tileSize ?? sample.tileSize,
    minZoom: zooms[0]!.z,
    maxZoom: zooms.at(-1)!.z,
    bounds: about.bounds ?? box,
    boundsDerived: about.bounds === null,
    name: about.name,
    attribution: about.attribution,
    description: about.description,
    vectorLayers: bytes.format === 'pbf' ? await layersOfStyle(cache) : null,
    tileMatrixSet: about.grid,
    ...own,
    metadata: {},
    extension: bytes.format,
    encoding: sample.encoding,
    fingerprint,
    warnings: [...(await warningsOf(cache)), ...bytes.warnings, ...sample.warnings],
  }
}

/** Returns the layers that the style of a vector tile package draws. Packages list their layers nowhere else. Null without a usable style. */
async function layersOfStyle({ files, about }: EsriCache): Promise<readonly VectorLayer[] | null> {
  try {
    const text = await files.read(`${about.base}resources/styles/root.json`)
    const style: unknown = text === null ? null : parseOutsideJson(text.toString())
    if (!isRecord(style) || !Array.isArray(style.layers)) return null
    const names = style.layers.map((layer: unknown) => (isRecord(layer) ? layer['source-layer'] : null))
    const ids = new Set(names.filter((name) => typeof name === 'string' && name !== '' && !name.includes('\0')))
    return [...ids].slice(0, MAX_LAYERS).map((id) => ({ id: String(id) }))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof BrokenArchiveError) return null
    throw error
  }
}

/** Maximum number of layers that are read from a style. */
const MAX_LAYERS = 1_000

/** Reads the first bytes of a tile of the deepest zoom, and of one of the highest. Skips empty bundles. */
async function firstTiles(
  root: string,
  file: string,
  cache: EsriCache,
  zooms: readonly BundleListing[],
): Promise<Buffer[]> {
  const layout = new BundleLayout(cache, [])
  const spec = {
    id: 0,
    storage: 'esri_compact',
    format: 'png',
    path: file,
    root,
    extension: 'png',
    isRemote: false,
  } as const
  const source = new RangeSource(spec, layout, null)
  const starts: Buffer[] = []
  try {
    for (const { bundles } of [...new Set([zooms.at(-1)!, zooms[0]!])]) {
      for (const { name } of bundles.slice(0, MAX_LOOKED_AT)) {
        const tile = await finish(layout.firstTile(name), (section) => source.read(section))
        if (tile === null) continue
        const start = await source.read({ ...tile, length: Math.min(tile.length, SAMPLE_BYTES) })
        if (start !== null) starts.push(Buffer.from(start))
        break
      }
    }
  } finally {
    source.close()
  }
  return starts
}

/** Maximum number of bundles of a zoom in which a tile is searched for. */
const MAX_LOOKED_AT = 8

function saidFormat(format: string): TileFormat | null {
  // `PNG8`, `PNG24` and `PNG32` are PNG.
  return formatOfExtension(format.replace(/\d{1,2}$/, ''))
}

/** Returns warnings about levels, bundles and rows that contain tiles and are not served. */
async function warningsOf(cache: EsriCache): Promise<string[]> {
  return [...(await otherLevels(cache)), ...(await misspelled(cache))]
}

async function misspelled(cache: EsriCache): Promise<string[]> {
  const found: string[] = []
  for (const level of cache.about.levels.values()) {
    const names = await cache.files.list(levelFolder(cache, level))
    found.push(...names.filter((name) => !isOpened(cache, level, name)))
  }
  return found.length === 0
    ? []
    : [
        `${found.length} bundles or rows are not served, such as ${found[0]}: write their numbers in small letters, as ArcGIS does`,
      ]
}

/** False for a bundle, or the folder of a row in an exploded cache, whose name differs from the one that is opened for its tiles. */
function isOpened(cache: EsriCache, level: number, name: string): boolean {
  const at = parseBundle(name)
  if (at !== null) return bundleOf(cache, level, at.column, at.row) === `${levelFolder(cache, level)}/${name}`
  return !isRow(name) || FOLDER_LAYOUTS.arcgis.folders[1].test(name)
}

async function otherLevels({ files, tiles, about }: EsriCache): Promise<string[]> {
  const served = new Set(about.levels.values())
  const found = (await files.list(tiles)).filter((name) => /^L\d\d$/.test(name)).map((name) => Number(name.slice(1)))
  const others = found.filter((level) => !served.has(level)).sort((a, b) => a - b)
  if (others.length === 0) return []
  const numbers = others.slice(0, 5).map((level) => about.otherLevels.get(level) ?? `level ${level}: not described`)
  return [`${others.length} of its levels are not zooms of ${about.grid} and are not served: ${numbers.join('; ')}`]
}

async function probeExploded(root: string, file: string, cache: EsriCache): Promise<TileSetProbe | null> {
  const { about, tiles } = cache
  const folder = `${file}/${tiles}`.replace(/\/$/, '')
  const zoomOfLevel = new Map([...about.levels].map(([z, level]) => [level, z]))
  const list = (grid: TileMatrixSetId) =>
    listLayout(root, folder, FOLDER_LAYOUTS.arcgis, grid, (level) => zoomOfLevel.get(level))
  const metadata = {
    ...NO_METADATA,
    scheme: 'xyz',
    grid: about.grid,
    gridNamed: about.grid,
    ...(about.tileMatrices && { tileMatrices: about.tileMatrices }),
    bounds: about.bounds,
    content: about.content,
    fromGdal: false,
    unserved: null,
  } as const
  const probe = await describeFolder(metadata, list, {
    start: (tile) => readStart(root, tile),
    rowsAreFixed: true,
    fingerprint: (told) => layoutFingerprint(root, folder, 'arcgis', told, about.content),
  })
  if (probe === null) return null
  return {
    ...probe,
    storage: 'esri_exploded',
    rowsAssumed: false,
    warnings: [...(await warningsOf(cache)), ...probe.warnings],
  }
}
