import { coded } from '@gateway/contracts/messages.js'
import { crsKind } from './crs.js'
import type { Engine } from './engines/engine.js'
import { fail, quoted } from './failure.js'
import { asLongLat, type Footprint, footprintOf, type Point, samplePoints, turnsOf } from './footprint.js'
import type { Source } from './probe.js'
import type { TileSpace } from './space.js'

/** Latitude beyond which a source may contain a pole. */
const NEAR_POLE = 80

/** Returns the places of sources on the map. Sources in one reference system are transformed by one call. */
export async function footprintsOf(engine: Engine, sources: readonly Source[], space: TileSpace): Promise<Footprint[]> {
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
        ? await transformed(engine, wkt, space.geographicCrs, points)
        : points.map((each) => asLongLat(kind, each))
    const poles = await polesOf(engine, wkt, projected)
    const back = kind === 'other' ? await transformed(engine, space.geographicCrs, wkt, projected) : null
    for (const [place, index] of indexes.entries()) {
      const source = sources[index]!
      const inside = { north: contains(source, poles.north), south: contains(source, poles.south) }
      const turns = turnsOf(points[place]!, back?.[place] ?? [], source)
      const footprint = footprintOf(kind, source.width, source.height, projected[place]!, inside, space, turns)
      if (!footprint) {
        const end = Math.round(space.maxLatitude * 1e4) / 1e4
        fail(coded('slice_source_off_map', { source: quoted(source.path), degrees: end }))
      }
      footprints[index] = footprint
    }
  }
  return footprints
}

function pointsOf({ width, height, locate }: Source): Point[] {
  return samplePoints(width, height, locate)
}

/** Returns the poles in a projected system; `null` if no source is near one, or the projection has no such point. */
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

/** Transforms points of several sources between reference systems; NaN if that is impossible. */
async function transformed(engine: Engine, from: string, to: string, points: readonly Point[][]): Promise<Point[][]> {
  const input = points.flatMap((each) => each.map((point) => (isKnown(point) ? point.join(' ') : '0 0'))).join('\n')
  const args = ['-s_srs', from, '-t_srs', to, '-output_xy']
  const outcome = await engine.run({ tool: 'gdaltransform', args, input: `${input}\n` })
  const lines = outcome.stdout.trim().split('\n')
  const count = points.reduce((sum, each) => sum + each.length, 0)
  if (outcome.code !== 0 || lines.length !== count) fail(coded('slice_crs_unusable'))
  let next = 0
  return points.map((each) =>
    each.map((point) => {
      const result = pointOf(lines[next++]!)
      return isKnown(point) && isKnown(result) ? result : [Number.NaN, Number.NaN]
    }),
  )
}

function pointOf(line: string): Point {
  const [x = Number.NaN, y = Number.NaN] = line.split(/\s+/).map(Number)
  return [x, y]
}

function isKnown([x, y]: Point): boolean {
  return Number.isFinite(x) && Number.isFinite(y)
}
