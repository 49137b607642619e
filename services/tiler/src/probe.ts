import { crsKind, isUsableCrs } from './crs.js'
import { type Engine, errorsIn, type OpenSource, SOURCE_DRIVERS } from './engines/engine.js'
import { fail, quoted } from './failure.js'
import { asLongLat, type Footprint, footprintOf, type GeoTransform, type Point, samplePoints } from './footprint.js'
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

/** Latitude beyond which a source may contain a pole. */
const NEAR_POLE = 80

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

/** Where sources lie on the map. Sources of one reference system are transformed by one call. */
export async function footprintsOf(engine: Engine, sources: readonly Source[]): Promise<Footprint[]> {
  const footprints = new Array<Footprint>(sources.length)
  const systems = new Map<string, number[]>()
  sources.forEach(({ wkt }, index) => {
    systems.set(wkt, [...(systems.get(wkt) ?? []), index])
  })
  for (const [wkt, indexes] of systems) {
    const kind = crsKind(wkt)
    const points = indexes.map((index) => pointsOf(sources[index]!))
    const projected =
      kind === 'other'
        ? await transformed(engine, wkt, 'EPSG:4326', points)
        : points.map((each) => asLongLat(kind, each))
    const poles = await polesOf(engine, wkt, projected)
    for (const [place, index] of indexes.entries()) {
      const source = sources[index]!
      const inside = { north: contains(source, poles.north), south: contains(source, poles.south) }
      const footprint = footprintOf(kind, source.width, source.height, projected[place]!, inside)
      if (!footprint) {
        fail(`the source ${quoted(source.path)} lies nowhere on the map, which ends at 85.0511 degrees north and south`)
      }
      footprints[index] = footprint
    }
  }
  return footprints
}

function pointsOf({ width, height, transform }: Source): Point[] {
  return samplePoints(width, height, transform)
}

/** Where the poles are in a projected system; `null` where no source comes near or the projection has no such point. */
async function polesOf(engine: Engine, wkt: string, points: readonly Point[][]) {
  const near = crsKind(wkt) === 'other' && points.some((each) => each.some(([, y]) => Math.abs(y) > NEAR_POLE))
  if (!near) return { north: null, south: null }
  const [[north, south]] = (await transformed(engine, 'EPSG:4326', wkt, [
    [
      [0, 90],
      [0, -90],
    ],
  ])) as [[Point, Point]]
  return { north, south }
}

function contains({ width, height, transform }: Source, point: Point | null): boolean {
  if (!point || !Number.isFinite(point[0])) return false
  const [originX, a, b, originY, c, d] = transform
  const determinant = a * d - b * c
  const x = point[0] - originX
  const y = point[1] - originY
  const column = (x * d - y * b) / determinant
  const row = (y * a - x * c) / determinant
  return column >= 0 && column <= width && row >= 0 && row <= height
}

/** Points of several sources from one reference system to another; NaN where that is not possible. */
async function transformed(engine: Engine, from: string, to: string, points: readonly Point[][]): Promise<Point[][]> {
  const input = points.flatMap((each) => each.map(([x, y]) => `${x} ${y}`)).join('\n')
  const args = ['-s_srs', from, '-t_srs', to, '-output_xy']
  const outcome = await engine.run({ tool: 'gdaltransform', args, input: `${input}\n` })
  const lines = outcome.stdout.trim().split('\n')
  const count = points.reduce((sum, each) => sum + each.length, 0)
  if (outcome.code !== 0 || lines.length !== count) fail('a coordinate reference system of the sources is not usable')
  let next = 0
  return points.map((each) => each.map(() => pointOf(lines[next++]!)))
}

function pointOf(line: string): Point {
  const [x = Number.NaN, y = Number.NaN] = line.split(/\s+/).map(Number)
  return Number.isFinite(x) && Number.isFinite(y) ? [x, y] : [Number.NaN, Number.NaN]
}
