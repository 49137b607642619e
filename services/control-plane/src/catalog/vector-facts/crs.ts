import type { Bounds } from '@gateway/contracts/basemap.js'
import proj4 from 'proj4'
import { MAX_NAME } from './limits.js'

/** A coordinate system: its name in responses, and its definition for proj4; null if proj4 cannot handle it. */
export interface Crs {
  readonly name: string
  readonly definition: string | null
}

export const WGS84: Crs = { name: 'EPSG:4326', definition: 'EPSG:4326' }

/** WGS 84 itself, and CGCS2000, which differs from it by centimetres. */
const AS_WGS84: ReadonlySet<string> = new Set(['4326', '4490'])

/** Parses a .prj, which is Well-Known Text; null if it is not. */
export function crsOfPrj(text: string): Crs | null {
  const head = /^\uFEFF?\s*(?:PROJCS|GEOGCS|PROJCRS|GEOGCRS|GEODCRS)\s*\[\s*"([^"]+)"/.exec(text)
  if (head === null) return null
  const name = (head[1] as string).slice(0, MAX_NAME)
  const code = /(?:AUTHORITY|ID)\["EPSG","?(\d{4,6})"?\]\]$/.exec(text.replace(/\s/g, ''))?.[1] ?? codeOfName(name)
  return code === undefined ? { name, definition: text } : crsOfEpsg(code, text)
}

/** @param text definition in Well-Known Text; null if it is unknown */
export function crsOfEpsg(code: string, text: string | null): Crs {
  const name = `EPSG:${code}`
  if (AS_WGS84.has(code)) return { name, definition: WGS84.definition }
  return { name, definition: text ?? (proj4.defs(name) === undefined ? null : name) }
}

/** Parses the `crs` member that GeoJSON had before RFC 7946. */
export function crsOfName(name: string): Crs {
  if (/[:/]CRS84$/.test(name)) return WGS84
  const code = /[:/](\d{4,6})$/.exec(name)?.[1]
  if (code === undefined || !/EPSG/i.test(name)) return { name: name.slice(0, MAX_NAME), definition: null }
  return crsOfEpsg(code, null)
}

/** The most frequent of ESRI's names, which contain no code. */
const NAMED: Readonly<Record<string, number>> = {
  GCS_WGS_1984: 4326,
  GCS_China_Geodetic_Coordinate_System_2000: 4490,
  GCS_Beijing_1954: 4214,
  GCS_Xian_1980: 4610,
  GCS_North_American_1983: 4269,
  GCS_ETRS_1989: 4258,
  WGS_1984_Web_Mercator_Auxiliary_Sphere: 3857,
  British_National_Grid: 27700,
}

function codeOfName(name: string): string | undefined {
  if (Object.hasOwn(NAMED, name)) return String(NAMED[name])
  const [, zone, half] = /^WGS_1984_UTM_Zone_(\d{1,2})([NS])$/.exec(name) ?? []
  const utm = Number(zone)
  if (utm >= 1 && utm <= 60) return String((half === 'N' ? 32600 : 32700) + utm)
  // EPSG numbers the zones of Gauss-Kruger in a row: 4513 is zone 25, 4534 is the central meridian 75.
  const gauss = Number(/^CGCS2000_3_Degree_GK_Zone_(\d\d)$/.exec(name)?.[1])
  if (gauss >= 25 && gauss <= 45) return String(4513 + gauss - 25)
  const meridian = Number(/^CGCS2000_3_Degree_GK_CM_(\d{2,3})E$/.exec(name)?.[1])
  return meridian >= 75 && meridian <= 135 && meridian % 3 === 0 ? String(4534 + (meridian - 75) / 3) : undefined
}

/** Number of points along one side of a box that are projected, to follow its curved edges. */
const STEPS = 20

/** Projects a box of a coordinate system to WGS 84; null if it is empty, or not on the earth. */
export function boundsInWgs84({ definition }: Crs, [minX, minY, maxX, maxY]: Bounds): Bounds | null {
  if (definition === null || !(minX <= maxX && minY <= maxY)) return null
  if (definition === WGS84.definition) return onEarth([minX, minY, maxX, maxY])
  const longitudes: number[] = []
  const latitudes: number[] = []
  try {
    const { forward } = proj4(definition, 'EPSG:4326')
    for (let i = 0; i <= STEPS; i++) {
      for (let j = 0; j <= STEPS; j++) {
        const x = minX + ((maxX - minX) * i) / STEPS
        const [longitude, latitude] = forward([x, minY + ((maxY - minY) * j) / STEPS]) as [number, number]
        longitudes.push(longitude)
        latitudes.push(latitude)
      }
    }
  } catch {
    // proj4 does not know the projection, or cannot read the definition.
    return null
  }
  const [west, east] = span(longitudes)
  return onEarth([west, Math.min(...latitudes), east, Math.max(...latitudes)])
}

/** Returns west and east of longitudes; west is greater than east if they are on both sides of the antimeridian. */
function span(longitudes: readonly number[]): [number, number] {
  const sorted = [...longitudes].sort((a, b) => a - b)
  const next = sorted.findIndex((longitude, i) => longitude - (sorted[i - 1] ?? longitude) > 180)
  if (next > 0) return [sorted[next] as number, sorted[next - 1] as number]
  return [sorted[0] as number, sorted.at(-1) as number]
}

/** Tolerance of rounding at the edges of the earth. */
const ROUNDING = 1e-6

function onEarth([west, south, east, north]: Bounds): Bounds | null {
  const isWithin = (value: number, limit: number) => Math.abs(value) <= limit + ROUNDING
  if (![west, east].every((x) => isWithin(x, 180)) || ![south, north].every((y) => isWithin(y, 90))) return null
  const clamp = (value: number, limit: number) => Math.max(-limit, Math.min(limit, value))
  return [clamp(west, 180), clamp(south, 90), clamp(east, 180), clamp(north, 90)]
}
