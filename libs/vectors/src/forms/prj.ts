import { createRequire } from 'node:module'
import { esriNameOf } from '../formats/epsg.js'
import type { Crs } from '../query/crs.js'

const require = createRequire(import.meta.url)

const WGS84 = geographic('GCS_WGS_1984', 6378137, 298.257223563)
const CGCS2000 = geographic('GCS_China_Geodetic_Coordinate_System_2000', 6378137, 298.257222101)
const FIXED: Readonly<Record<number, string>> = {
  4326: WGS84,
  4490: CGCS2000,
  3857:
    `PROJCS["WGS_1984_Web_Mercator_Auxiliary_Sphere",${WGS84},PROJECTION["Mercator_Auxiliary_Sphere"],PARAMETER["False_Easting",0.0],` +
    'PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",0.0],PARAMETER["Standard_Parallel_1",0.0],PARAMETER["Auxiliary_Sphere_Type",0.0],UNIT["Meter",1.0]]',
}

/** ESRI's names of projections, by those of proj4, and the parameters that each has besides its false origin and its meridian. */
const PROJECTIONS: Readonly<Record<string, readonly [string, readonly (keyof Parameters)[]]>> = {
  tmerc: ['Transverse_Mercator', ['Scale_Factor', 'Latitude_Of_Origin']],
  etmerc: ['Transverse_Mercator', ['Scale_Factor', 'Latitude_Of_Origin']],
  utm: ['Transverse_Mercator', ['Scale_Factor', 'Latitude_Of_Origin']],
  lcc: [
    'Lambert_Conformal_Conic',
    ['Standard_Parallel_1', 'Standard_Parallel_2', 'Scale_Factor', 'Latitude_Of_Origin'],
  ],
  aea: ['Albers', ['Standard_Parallel_1', 'Standard_Parallel_2', 'Latitude_Of_Origin']],
  laea: ['Lambert_Azimuthal_Equal_Area', ['Latitude_Of_Origin']],
  merc: ['Mercator', ['Standard_Parallel_1']],
  sterea: ['Double_Stereographic', ['Scale_Factor', 'Latitude_Of_Origin']],
}

interface Parameters {
  readonly Scale_Factor: number
  readonly Latitude_Of_Origin: number
  readonly Standard_Parallel_1: number
  readonly Standard_Parallel_2: number
}

/** A definition as proj4 has parsed it: angles in radians, lengths in metres. */
interface Parsed {
  readonly projName: string
  readonly a: number
  readonly b: number
  readonly rf?: number
  readonly lat0?: number
  readonly lat1?: number
  readonly lat2?: number
  readonly lat_ts?: number
  readonly long0?: number
  readonly k0?: number
  readonly x0?: number
  readonly y0?: number
  readonly to_meter?: number
}

/** Returns the text of a .prj for a coordinate system; null if its projection has no name here. */
export function prjOf({ uri, proj4: definition }: Crs): string | null {
  const code = Number(/\/EPSG\/0\/(\d+)$/.exec(uri)?.[1] ?? 4326)
  const fixed = FIXED[code]
  if (fixed !== undefined || definition === null) return fixed ?? null
  const proj4 = require('proj4') as typeof import('proj4')
  const parsed = new (proj4 as unknown as { Proj: new (text: string) => Parsed }).Proj(definition)
  const flattening = parsed.rf ?? (parsed.a === parsed.b ? 0 : parsed.a / (parsed.a - parsed.b))
  const base = geographic(esriNameOf(code) ?? 'GCS_Unknown', parsed.a, flattening)
  const name = /\+proj=(\w+)/.exec(definition)?.[1] ?? ''
  if (name === 'longlat') return base
  const projection = PROJECTIONS[name]
  if (projection === undefined) return null
  const degrees = (angle: number | undefined) => Number((((angle ?? 0) * 180) / Math.PI).toFixed(12))
  const { to_meter: unit = 1, k0 = 1, lat0, lat1, lat2 } = parsed
  const values: Parameters = {
    Scale_Factor: k0,
    Latitude_Of_Origin: degrees(lat0),
    Standard_Parallel_1: degrees(name === 'merc' ? parsed.lat_ts : (lat1 ?? lat0)),
    Standard_Parallel_2: degrees(lat2 ?? lat1 ?? lat0),
  }
  const parameters = [
    ['False_Easting', (parsed.x0 ?? 0) / unit],
    ['False_Northing', (parsed.y0 ?? 0) / unit],
    ['Central_Meridian', degrees(parsed.long0)],
    ...projection[1].map((one) => [one, values[one]] as const),
  ].map(([one, value]) => `PARAMETER["${one}",${value}]`)
  const length = unit === 1 ? 'UNIT["Meter",1.0]' : `UNIT["Unit",${unit}]`
  return `PROJCS["EPSG_${code}",${base},PROJECTION["${projection[0]}"],${parameters.join(',')},${length}]`
}

function geographic(name: string, a: number, flattening: number): string {
  const datum = name.replace(/^GCS_/, '')
  return `GEOGCS["${name}",DATUM["D_${datum}",SPHEROID["${datum}",${a},${flattening}]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
}
