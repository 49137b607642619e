import { coded } from '@gateway/contracts/messages.js'
import { isUsableCrs } from './crs.js'
import { type Engine, errorsIn, type OpenSource } from './engines/engine.js'
import { fail, quoted } from './failure.js'
import { type GeoTransform, locatedBy, type Point } from './footprint.js'
import { type Gcp, type GcpPlacing, placeByGcps } from './gcps.js'
import { type GdalInfo, gdalInfoSchema, type Imagery, imageryOf } from './imagery.js'
import { sidecarsOf } from './sidecar.js'
import { foreignFormat, shellQuoted } from './source-format.js'
import { type CheckedSource, closeSources, openSource, settle } from './sources.js'
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
export async function probe(engine: Engine, path: string, roots: readonly string[]): Promise<Source> {
  const opened = await openSource(path, roots)
  try {
    await settle(opened)
    const info = await infoOf(engine, path, opened, roots)
    const beside = info.coordinateSystem && info.geoTransform ? null : await sidecarsOf(path, roots)
    const told = info.geoTransform ?? beside?.transform
    const placing = told ? null : byGcps(path, info)
    const wkt = (placing && info.gcps?.coordinateSystem?.wkt) || info.coordinateSystem?.wkt || beside?.wkt
    const transform = told ?? placing?.transform
    if (!wkt) {
      fail(coded('slice_source_without_crs', { source: quoted(path) }))
    }
    if (!isUsableCrs(wkt)) fail(coded('slice_crs_not_on_earth', { source: quoted(path) }))
    if (!transform) fail(coded('slice_source_without_place', { source: quoted(path) }))
    if (transform[1] * transform[5] - transform[2] * transform[4] === 0) {
      fail(coded('slice_place_damaged', { source: quoted(path) }))
    }
    const verdict = imageryOf(info)
    if (!verdict.ok) fail(coded('slice_source_not_suitable', { source: quoted(path), reason: verdict.reason }))
    const [width, height] = info.size
    const overviews = (info.bands[0]!.overviews ?? []).map(({ size }, index) => ({
      index,
      width: size[0],
      height: size[1],
    }))
    return {
      path,
      identity: opened.identity,
      driver: info.driverShortName,
      width,
      height,
      wkt,
      transform,
      gcps: placing?.points ?? null,
      locate: placing?.locate ?? locatedBy(transform),
      imagery: verdict.imagery,
      overviews,
    }
  } finally {
    await closeSources([opened])
  }
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
  const args = ['-json', '-norat', '-nofl', ...driverOptions(engine), engine.sourceName(0)]
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
