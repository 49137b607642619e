import { createRequire } from 'node:module'
import type { Converter } from 'proj4'
import type { IndexDescription } from '../index-file/index-description.js'
import type { Convert } from './geometry.js'

const require = createRequire(import.meta.url)

export const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const EPSG = 'http://www.opengis.net/def/crs/EPSG/0/'

/** A coordinate reference system of responses and requests, small enough to be sent to another process. */
export interface Crs {
  readonly uri: string
  /** null: longitude and latitude in degrees */
  readonly proj4: string | null
  /** true if the first axis of a position points north (EPSG's axis order), as in EPSG:4326 */
  readonly northFirst: boolean
  readonly isGeographic: boolean
}

const geographic = (code: number): Crs => ({ uri: `${EPSG}${code}`, proj4: null, northFirst: true, isGeographic: true })

export const DEFAULT_CRS: Crs = { uri: CRS84, proj4: null, northFirst: false, isGeographic: true }
const WEB_MERCATOR: Crs = { uri: `${EPSG}3857`, proj4: 'EPSG:3857', northFirst: false, isGeographic: false }
/** CGCS2000 and WGS 84 agree within a decimetre, and PROJ does not convert between them. */
const ALWAYS: readonly Crs[] = [DEFAULT_CRS, geographic(4326), WEB_MERCATOR, geographic(4490)]

/** Returns the systems in which an index can be queried. The list includes its own system if the conversion is known. */
export function crsListOf(index: IndexDescription): readonly Crs[] {
  const storage = storageCrsOf(index)
  return storage === null || ALWAYS.some(({ uri }) => uri === storage.uri) ? ALWAYS : [...ALWAYS, storage]
}

/** Returns null if the file names no system with a code, or if the conversion is unknown. */
function storageCrsOf({ storage_crs: name, storage_definition: definition }: IndexDescription): Crs | null {
  const code = /^EPSG:(\d{4,6})$/.exec(name ?? '')?.[1]
  if (name === 'OGC:CRS84') return DEFAULT_CRS
  if (code === undefined) return null
  const known = ALWAYS.find(({ uri }) => uri === `${EPSG}${code}`)
  if (known !== undefined) return known
  if (definition == null || !isUsable(definition.proj4)) return null
  const isGeographic = definition.proj4.includes('+proj=longlat')
  return { uri: `${EPSG}${code}`, proj4: definition.proj4, northFirst: definition.north_first, isGeographic }
}

function isUsable(definition: string): boolean {
  try {
    return converterOf(definition).forward([0, 0]).length === 2
  } catch {
    return false
  }
}

/** Converts from longitude and latitude. The first query in another system loads proj4, which would delay every start. */
function converterOf(definition: string): Converter {
  const proj4 = require('proj4') as typeof import('proj4')
  return proj4(definition)
}

/** Finds a system by its URI, or by its short name (`EPSG:4490`, `CRS84`). */
export function findCrs(list: readonly Crs[], name: string): Crs | undefined {
  const short = /^\[?(?:EPSG:(\d+)|(?:OGC:)?(CRS84))\]?$/.exec(name)
  const uri = short === null ? name.replace(/^https:/, 'http:') : short[2] === undefined ? `${EPSG}${short[1]}` : CRS84
  return list.find((crs) => crs.uri === uri)
}

/** Rounding of positions in responses, to about 0.1 mm. */
const DEGREES = 1e9
const METRES = 1e4

const scaleOf = ({ isGeographic }: Crs) => (isGeographic ? DEGREES : METRES)

/** Returns by how much a converted position of a response may be off, in units of its system. A box that a client makes of such positions contains them. */
export function roundingOf(crs: Crs): number {
  return crs.proj4 === null ? 0 : 1 / scaleOf(crs)
}

/** Returns the conversion from longitude and latitude to positions of the system, in its axis order. */
export function toCrs(crs: Crs): Convert {
  const { proj4: definition, northFirst } = crs
  if (definition === null) return northFirst ? (x, y) => [y, x] : null
  const { forward } = converterOf(definition)
  const scale = scaleOf(crs)
  const rounded = (value: number) => Math.round(value * scale) / scale
  return (x, y) => {
    // Mercator has no poles.
    const latitude = definition === WEB_MERCATOR.proj4 ? Math.max(-89.99, Math.min(89.99, y)) : y
    let east: number
    let north: number
    try {
      ;[east, north] = forward([x, latitude]) as [number, number]
    } catch {
      return [Number.NaN, Number.NaN]
    }
    return northFirst ? [rounded(north), rounded(east)] : [rounded(east), rounded(north)]
  }
}

/** Returns the conversion from positions of the system to longitude and latitude. */
export function fromCrs({ proj4: definition, northFirst }: Crs): (a: number, b: number) => readonly [number, number] {
  const inverse = definition === null ? null : converterOf(definition).inverse
  return (a, b) => {
    const [x, y] = northFirst ? [b, a] : [a, b]
    return inverse === null ? [x, y] : (inverse([x, y]) as [number, number])
  }
}
