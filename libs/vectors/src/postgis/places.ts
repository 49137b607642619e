import type { DatabaseTable } from '@gateway/contracts/postgis.js'
import { quoted } from '../index-file/index-description.js'
import { type Crs, DEFAULT_CRS, fromCrs, toCrs } from '../query/crs.js'

type Box = readonly [number, number, number, number]

const LONGITUDE_LATITUDE = 4326
/** Positions along each edge and across a box that are converted. */
const STEPS = 8
/** Maximum difference in degrees of a position that was converted to the table's system and back: a larger one is outside of where the system is defined. */
const MAX_ERROR = 1e-6
/** Part of a converted box by which it grows, because edges become curves between the converted positions, and shifts of datums differ. */
const MARGIN = 0.02
const LEAST_DEGREES = 1e-3
/** Maximum width and height in degrees of a box that is searched for on the sphere. */
const MOST_ON_SPHERE = 90
/** Kinds of geometries of which tiles have none. */
const SURFACES = "'TIN', 'POLYHEDRALSURFACE', 'TRIANGLE'"

/** The column of the geometries as planar geometries with their SRID. Arcs become lines, and the faces of surfaces become polygons. */
export function plainGeometry({ geometry, isGeography, setsSrid, srid, mayCurve }: DatabaseTable): string {
  const plain = isGeography ? `${quoted(geometry)}::geometry` : quoted(geometry)
  const faces = `(SELECT ST_Collect(ST_MakePolygon(ST_ExteriorRing(face.geom))) FROM ST_Dump(${plain}) AS face)`
  const column = mayCurve
    ? `CASE WHEN ST_HasArc(${plain}) THEN ST_CurveToLine(${plain}) WHEN GeometryType(${plain}) IN (${SURFACES}) THEN ${faces} ELSE ${plain} END`
    : plain
  return setsSrid ? `ST_SetSRID(${column}, ${srid})` : `(${column})`
}

/** The geometries in longitude and latitude. */
export function inDegrees(table: DatabaseTable): string {
  const geometry = plainGeometry(table)
  return table.srid === LONGITUDE_LATITUDE ? geometry : `ST_Transform(${geometry}, ${LONGITUDE_LATITUDE})`
}

/**
 * Returns the box in the table's own system that contains a box of degrees: what the table's index can search. null: the box leaves the area of
 * that system, or nothing is known of it, and features must be compared one by one.
 */
export function boxInTable({ srid, proj4, isGeography }: DatabaseTable, box: Box): Box | null {
  const [west, south, east, north] = box
  if (isGeography) {
    if (east - west > MOST_ON_SPHERE || north - south > MOST_ON_SPHERE || west < -180 || east > 180) return null
    const clamped = [west, Math.max(-90, south), east, Math.min(90, north)] as const
    return grown(clamped, LEAST_DEGREES)
  }
  if (srid === LONGITUDE_LATITUDE) return box
  if (proj4 === null) return null
  const isGeographic = /\+proj=longlat/.test(proj4)
  if (isGeographic && /\+pm=/.test(proj4)) return null
  if (isGeographic) return grown(box, LEAST_DEGREES)
  const crs: Crs = { ...DEFAULT_CRS, proj4, isGeographic: false }
  const [forward, back] = [toCrs(crs), fromCrs(crs)]
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  try {
    for (let i = 0; i <= STEPS; i++) {
      for (let j = 0; j <= STEPS; j++) {
        const [lon, lat] = [west + ((east - west) * i) / STEPS, south + ((north - south) * j) / STEPS]
        const [x, y] = forward?.(lon, lat) ?? [Number.NaN, Number.NaN]
        const [lon2, lat2] = back(x, y)
        // A position that is not found again is not of this system; NaN is not either.
        if (!(Math.abs(lon2 - lon) < MAX_ERROR && Math.abs(lat2 - lat) < MAX_ERROR)) return null
        ;[minX, minY] = [Math.min(minX, x), Math.min(minY, y)]
        ;[maxX, maxY] = [Math.max(maxX, x), Math.max(maxY, y)]
      }
    }
  } catch {
    return null
  }
  return grown([minX, minY, maxX, maxY], 1)
}

/** Returns the box of degrees around boxes of positions on a sphere of the radius 1, whose axes are those of geocentric coordinates. */
export function boxOnSphere(
  boxes: readonly { readonly min: readonly number[]; readonly max: readonly number[] }[],
): Box {
  const least = (axis: number) => Math.min(...boxes.map(({ min }) => min[axis] ?? -1))
  const most = (axis: number) => Math.max(...boxes.map(({ max }) => max[axis] ?? 1))
  const degrees = (radians: number) => (radians * 180) / Math.PI
  const latitude = (z: number) => degrees(Math.asin(Math.max(-1, Math.min(1, z))))
  const [west, south, east, north] = [least(0), least(1), most(0), most(1)]
  const corners = [west, east].flatMap((x) => [south, north].map((y) => degrees(Math.atan2(y, x))))
  // All longitudes occur around the axis of the earth, and a box across the 180th meridian is as wide as the earth.
  const isAround = west <= 0 && south <= 0 && north >= 0
  const [left, right] = isAround ? [-180, 180] : [Math.min(...corners), Math.max(...corners)]
  return [left, latitude(least(2)), right, latitude(most(2))]
}

function grown([minX, minY, maxX, maxY]: Box, least: number): Box {
  const [dx, dy] = [Math.max(least, (maxX - minX) * MARGIN), Math.max(least, (maxY - minY) * MARGIN)]
  return [minX - dx, minY - dy, maxX + dx, maxY + dy]
}
