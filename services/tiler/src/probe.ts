import { coded } from '@gateway/contracts/messages.js'
import { isUsableCrs } from './crs.js'
import { type Engine, errorsIn, type OpenSource } from './engines/engine.js'
import { fail, quoted } from './failure.js'
import { type GeoTransform, locatedBy, type Point } from './footprint.js'
import { type Gcp, type GcpPlacing, placeByGcps } from './gcps.js'
import { type Content, type GdalInfo, gdalInfoSchema, type Imagery, imageryOf } from './imagery.js'
import { type Companions, companionsOf } from './sidecar.js'
import { foreignFormat, shellQuoted } from './source-format.js'
import { assertUnchanged, type CheckedSource, closeFiles, openSource, reopenBeside, settle } from './sources.js'
import type { Level } from './vrt.js'

/** All facts about a source before its pixels are read. */
export interface Source extends CheckedSource {
  readonly driver: string
  readonly width: number
  readonly height: number
  readonly wkt: string
  /** for a source with ground control points, the transform with the best fit */
  readonly transform: GeoTransform
  /** ground control points, if they place the source better than any transform; otherwise null */
  readonly gcps: readonly Gcp[] | null
  /** Returns the position of a pixel, in the source's own reference system. */
  readonly locate: (px: number, py: number) => Point
  readonly imagery: Imagery
  /** overviews in the file, from large to small */
  readonly overviews: readonly Level[]
}

export function driverOptions({ sourceDrivers }: Engine): string[] {
  return sourceDrivers.flatMap((driver) => ['-if', driver])
}

/** Reads the headers of a source. Throws a `Failure` that names it if it is not an image that can be placed on a map. */
export async function probe(engine: Engine, path: string, roots: readonly string[], content: Content): Promise<Source> {
  const image = await openSource(path, roots)
  try {
    await settle(image)
    const companions = await companionsOf(path, roots)
    const opened = await reopenBeside(image, companions.beside, roots)
    try {
      const info = await infoOf(engine, path, opened, roots)
      await assertUnchanged([opened], [path])
      return { path, identity: image.identity, beside: companions.beside, ...factsOf(path, info, companions, content) }
    } finally {
      await closeFiles(opened.beside.files)
    }
  } finally {
    await closeFiles([image])
  }
}

function factsOf(
  path: string,
  info: GdalInfo,
  { wkt: defined, hasRpc }: Companions,
  content: Content,
): Omit<Source, keyof CheckedSource> {
  // GDAL would read the overviews from wherever this leads.
  if (info.metadata?.OVERVIEWS) fail(coded('slice_source_names_file', { source: quoted(path) }))
  const placing = info.geoTransform ? null : byGcps(path, info)
  const wkt = (placing && info.gcps?.coordinateSystem?.wkt) || info.coordinateSystem?.wkt || defined
  const transform = info.geoTransform ?? placing?.transform
  if (!transform && (hasRpc || info.metadata?.RPC)) {
    const command = `gdalwarp -rpc -t_srs EPSG:3857 -dstalpha ${shellQuoted(path)} OUTPUT.tif`
    fail(coded('slice_source_rpc', { source: quoted(path), command }))
  }
  if (!wkt) fail(coded('slice_source_without_crs', { source: quoted(path) }))
  if (!isUsableCrs(wkt)) fail(coded('slice_crs_not_on_earth', { source: quoted(path) }))
  if (!transform) fail(coded('slice_source_without_place', { source: quoted(path) }))
  if (transform[1] * transform[5] - transform[2] * transform[4] === 0) {
    fail(coded('slice_place_damaged', { source: quoted(path) }))
  }
  const verdict = imageryOf(info, content)
  if (!verdict.ok) fail(coded('slice_source_not_suitable', { source: quoted(path), reason: verdict.reason }))
  const [width, height] = info.size
  return {
    driver: info.driverShortName,
    width,
    height,
    wkt,
    transform,
    gcps: placing?.points ?? null,
    locate: placing?.locate ?? locatedBy(transform),
    imagery: verdict.imagery,
    overviews: overviewsOf(info),
  }
}

/** A mask that has no overviews itself would be missing in those of the image, so they are used as far as both have them. */
function overviewsOf({ bands }: GdalInfo): Level[] {
  const { overviews = [], mask } = bands[0]!
  const isOwnMask = mask !== undefined && !mask.flags.includes('ALPHA')
  const levels = overviews.map(({ size: [width, height] }, index) => ({ index, width, height }))
  if (!isOwnMask) return levels
  const masked = mask.overviews ?? []
  const odd = levels.findIndex(({ index, width, height }) => {
    const size = masked[index]?.size
    return size?.[0] !== width || size[1] !== height
  })
  return odd < 0 ? levels : levels.slice(0, odd)
}

/** Returns null if the source has no ground control points. */
function byGcps(path: string, { gcps, size: [width, height] }: GdalInfo): GcpPlacing | null {
  const list = gcps?.gcpList ?? []
  if (list.length === 0) return null
  const placing = placeByGcps(list, width, height)
  if (placing !== null) return placing
  const command = `gdalwarp -tps ${shellQuoted(path)} OUTPUT.tif`
  return fail(coded('slice_gcps_unusable', { source: quoted(path), count: list.length, command }))
}

async function infoOf(engine: Engine, path: string, opened: OpenSource, roots: readonly string[]): Promise<GdalInfo> {
  const args = [
    '-json',
    '-norat',
    '-nofl',
    '-mdd',
    'OVERVIEWS',
    '-mdd',
    'RPC',
    ...driverOptions(engine),
    engine.sourceName(opened, 0),
  ]
  const outcome = await engine.run({ tool: 'gdalinfo', args, sources: [opened] })
  if (outcome.stopped) fail(coded('slice_header_late', { source: quoted(path) }))
  const codec = /missing codec (\w+)/.exec(outcome.stderr)?.[1]
  if (codec) fail(coded('slice_source_codec', { source: quoted(path), codec, engine: engine.description }))
  if (outcome.code !== 0 || errorsIn(outcome).length > 0) {
    const foreign = await foreignFormat(path, opened.fd, roots, engine.sourceDrivers)
    if (foreign !== null) fail(foreign)
    fail(coded('slice_source_unreadable', { source: quoted(path) }))
  }
  const parsed = gdalInfoSchema.safeParse(parseJson(outcome.stdout))
  if (!parsed.success) fail(coded('slice_header_nonsense', { source: quoted(path) }))
  return parsed.data
}

/** GDAL writes non-finite numbers as bare words, which JSON does not have. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/:\s*(-?nan|-?inf|NaN|-?Infinity)\b/gi, ': "$1"'))
  } catch {
    return null
  }
}
