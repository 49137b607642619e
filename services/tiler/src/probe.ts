import { isUsableCrs } from './crs.js'
import { type Engine, errorsIn, type OpenSource, SOURCE_DRIVERS } from './engines/engine.js'
import { fail, quoted } from './failure.js'
import type { GeoTransform } from './footprint.js'
import { type GdalInfo, gdalInfoSchema, type Imagery, imageryOf } from './imagery.js'
import { sidecarsOf } from './sidecar.js'
import { type CheckedSource, closeSources, openSource, settle } from './sources.js'
import type { Level } from './vrt.js'

/** Everything that is known of a source before its pixels are read. */
export interface Source extends CheckedSource {
  readonly driver: string
  readonly width: number
  readonly height: number
  readonly wkt: string
  readonly transform: GeoTransform
  readonly imagery: Imagery
  /** Smaller versions of the image that the file holds, from large to small. */
  readonly overviews: readonly Level[]
}

export const DRIVER_OPTIONS = SOURCE_DRIVERS.flatMap((driver) => ['-if', driver])

/** Reads the headers of a source. Throws a `Failure` that names it where it is not an image that can be put on a map. */
export async function probe(engine: Engine, path: string, roots: readonly string[]): Promise<Source> {
  const opened = await openSource(path, roots)
  try {
    await settle(opened)
    const info = await infoOf(engine, path, opened)
    const beside = info.coordinateSystem && info.geoTransform ? null : await sidecarsOf(path, roots)
    const wkt = info.coordinateSystem?.wkt || beside?.wkt
    const transform = info.geoTransform ?? beside?.transform
    if (!wkt) {
      fail(
        `the source ${quoted(path)} has no coordinate reference system, neither inside nor in a .prj or .aux.xml beside it`,
      )
    }
    if (!isUsableCrs(wkt)) fail(`the coordinate reference system of ${quoted(path)} cannot be placed on the earth`)
    if (!transform) fail(`the source ${quoted(path)} has no georeferencing: where its pixels lie is not known`)
    if (transform[1] * transform[5] - transform[2] * transform[4] === 0) {
      fail(`the georeferencing of ${quoted(path)} is damaged: its pixels have no size`)
    }
    const verdict = imageryOf(info)
    if (!verdict.ok) fail(`the source ${quoted(path)} ${verdict.reason}`)
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
      imagery: verdict.imagery,
      overviews,
    }
  } finally {
    await closeSources([opened])
  }
}

async function infoOf(engine: Engine, path: string, opened: OpenSource): Promise<GdalInfo> {
  const args = ['-json', '-nogcp', '-norat', '-nofl', ...DRIVER_OPTIONS, engine.sourceName(0)]
  const outcome = await engine.run({ tool: 'gdalinfo', args, sources: [opened] })
  if (outcome.stopped) fail(`the header of ${quoted(path)} could not be read in time or in reasonable space`)
  const codec = /missing codec (\w+)/.exec(outcome.stderr)?.[1]
  if (codec) fail(`the source ${quoted(path)} is compressed by ${codec}, which ${engine.description} cannot read`)
  if (outcome.code !== 0 || errorsIn(outcome).length > 0) {
    fail(`the source ${quoted(path)} is not a readable GeoTIFF, JPEG or PNG image, or is damaged`)
  }
  const parsed = gdalInfoSchema.safeParse(parseJson(outcome.stdout))
  if (!parsed.success) fail(`the header of ${quoted(path)} makes no sense`)
  return parsed.data
}

/** GDAL writes numbers that are not finite as bare words, which JSON does not have. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/:\s*(-?nan|-?inf|NaN|-?Infinity)\b/gi, ': "$1"'))
  } catch {
    return null
  }
}
