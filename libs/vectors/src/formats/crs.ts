import type { Bounds } from '@gateway/contracts/basemap.js'
import proj4 from 'proj4'
import type { Forward } from '../index-file/geometry-blob.js'
import { codeByParameters, epsgDefinition } from './epsg.js'
import { MAX_NAME } from './limits.js'

/** A coordinate system: its name in responses, and its definition for proj4; null if proj4 cannot handle it. */
export interface Crs {
  readonly name: string
  readonly definition: string | null
  /** true for a local system, which has no place on the earth */
  readonly isLocal?: boolean
}

export const WGS84: Crs = { name: 'EPSG:4326', definition: 'EPSG:4326' }

/** WGS 84 itself, and CGCS2000, which differs from it by centimetres. */
const AS_WGS84: ReadonlySet<string> = new Set(['4326', '4490'])

/** Parses a .prj, which is Well-Known Text; null if it is not. A system without a code is matched to one by its parameters. */
export function crsOfPrj(text: string): Crs | null {
  const head = /^\uFEFF?\s*(\w+)\s*\[\s*"([^"]*)"/.exec(text)
  const [, keyword = '', told = ''] = head ?? []
  const name = told.slice(0, MAX_NAME)
  if (/^(?:LOCAL_CS|ENGCRS|ENGINEERINGCRS)$/.test(keyword))
    return { name: name || keyword, definition: null, isLocal: true }
  if (!/^(?:PROJCS|GEOGCS|PROJCRS|GEOGCRS|GEODCRS|COMPD_CS|COMPOUNDCRS|BOUNDCRS)$/.test(keyword)) return null
  const horizontal = horizontalOf(text, keyword)
  if (!isOfEarth(horizontal)) return { name, definition: null, isLocal: true }
  // Krovak with axes to the south and the west, which proj4 does not convert.
  if (/XY_Plane_Rotation"\s*,\s*0/.test(horizontal)) return { name, definition: null }
  const code = /(?:AUTHORITY|ID)\["EPSG","?(\d{4,6})"?\](?:\],?)?$/.exec(horizontal.replace(/\s/g, ''))?.[1]
  const known = code === undefined ? codeByParameters(horizontal) : Number(code)
  return known === null ? { name, definition: horizontal } : crsOfEpsg(String(known), horizontal)
}

/** Equatorial radii in metres between which those of the earth's ellipsoids are. Other planets and the moon have no place on the earth. */
const EARTH_RADII = [6_300_000, 6_450_000] as const

function isOfEarth(text: string): boolean {
  const radius = /\b(?:SPHEROID|ELLIPSOID)\s*\[\s*"[^"]*"\s*,\s*([\d.]+)/.exec(text)?.[1]
  return radius === undefined || (Number(radius) > EARTH_RADII[0] && Number(radius) < EARTH_RADII[1])
}

/** Returns the horizontal part of a compound system, or the whole text. */
function horizontalOf(text: string, keyword: string): string {
  if (!keyword.startsWith('COMP')) return text
  const start = text.search(/\b(?:PROJCS|GEOGCS|PROJCRS|GEOGCRS|GEODCRS)\s*\[/)
  let depth = 0
  for (let i = start; i >= 0 && i < text.length; i++) {
    if (text[i] === '[') depth++
    else if (text[i] === ']' && --depth === 0) return text.slice(start, i + 1)
  }
  return text
}

/** @param text definition in Well-Known Text; null if it is unknown */
export function crsOfEpsg(code: string, text: string | null): Crs {
  const name = `EPSG:${code}`
  if (AS_WGS84.has(code)) return { name, definition: WGS84.definition }
  // Most texts lack the conversion of the datum to WGS 84, which the list of EPSG codes has.
  return { name, definition: epsgDefinition(Number(code)) ?? text }
}

/** Parses the `crs` member that GeoJSON had before RFC 7946. */
export function crsOfName(name: string): Crs {
  if (/[:/]CRS84h?$/.test(name)) return WGS84
  const code = /[:/](\d{4,6})$/.exec(name)?.[1]
  if (code === undefined || !/EPSG/i.test(name)) return { name: name.slice(0, MAX_NAME), definition: null }
  return crsOfEpsg(code, null)
}

/** Returns the conversion of positions in a system to longitude and latitude; null: they are. Returns undefined if it is unknown. */
export function forwardOf({ definition }: Crs): Forward | null | undefined {
  if (definition === WGS84.definition) return null
  if (definition === null) return undefined
  try {
    const { forward } = proj4(definition, WGS84.name)
    return (position) => forward(position)
  } catch {
    return undefined
  }
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
