import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Definitions of the EPSG's systems for proj4, with the conversion of their datum. Loaded on demand: they are 800 kB. */
function definitions(): Readonly<Record<string, readonly [string, string]>> {
  return require('proj4-list') as Readonly<Record<string, readonly [string, string]>>
}

interface EpsgSystems {
  /** codes, and ranges of codes, of projected systems whose first axis points north, and the second one east */
  readonly northFirst: readonly string[]
  /**
   * Geographic systems of the EPSG dataset 10.076 that are not deprecated: the code, the names of EPSG and ESRI, and the codes of the projected
   * systems on it
   */
  readonly geographic: readonly string[]
}

/** Loaded on demand, like the definitions. */
function systems(): EpsgSystems {
  return require('@gateway/vectors/epsg-systems.json') as EpsgSystems
}

/** Returns the definition of a system by its code; null if it is unknown. */
export function epsgDefinition(code: number): string | null {
  // Without the file of a grid, which is not here, the parameters of the datum count.
  const listed = definitions()
    [`EPSG:${code}`]?.[1].replace(/ ?\+nadgrids=[^@\s]\S*/, '')
    .trim()
  // Axes to the west and the south are a scale of -1, as ESRI writes them too: proj4 converts without regard to axes.
  const isSouthWest = listed?.includes('+axis=wsu ') === true
  return (isSouthWest ? listed.replace('+axis=wsu ', '').replace('+k=1 ', '+k=-1 ') : listed) ?? gda2020(code)
}

/** Returns the definition of Australia's GDA2020 or of its zones 46 to 59, which the list lacks. */
function gda2020(code: number): string | null {
  const datum = '+ellps=GRS80 +towgs84=0,0,0,0,0,0,0 +no_defs'
  if (code === 7844) return `+proj=longlat ${datum}`
  return code >= 7846 && code <= 7859 ? `+proj=utm +zone=${code - 7800} +south ${datum} +units=m` : null
}

/** True if the first axis of a system points north. Nearly all geographic ones do. */
export function isNorthFirst(code: number): boolean {
  northFirst ??= new Set(codesOf(systems().northFirst.join(' ')))
  return northFirst.has(code) || epsgDefinition(code)?.includes('+proj=longlat') === true
}
let northFirst: ReadonlySet<number> | undefined

interface Geographic {
  readonly code: number
  readonly projected: readonly number[]
}

let geographic: ReadonlyMap<string, Geographic> | undefined

/** Finds a geographic system by the name that EPSG or ESRI gives it. */
function geographicNamed(name: string): Geographic | undefined {
  if (geographic === undefined) {
    const found = new Map<string, Geographic>()
    for (const line of systems().geographic) {
      const parts = line.split('|')
      const system = { code: Number(parts[0]), projected: codesOf(parts.at(-1) as string) }
      for (const one of parts.slice(1, -1)) found.set(plain(one), system)
    }
    geographic = found
  }
  return geographic.get(plain(name)) ?? geographic.get(plain(`GCS_${name}`))
}

/** Returns ESRI's name of the geographic system of a system; null if it is unknown. */
export function esriNameOf(code: number): string | null {
  for (const line of systems().geographic) {
    const parts = line.split('|')
    if (Number(parts[0]) !== code && !codesOf(parts.at(-1) as string).includes(code)) continue
    return parts.find((one) => one.startsWith('GCS_')) ?? null
  }
  return null
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}+]+/gu, '_')
}

function codesOf(ranges: string): number[] {
  return ranges
    .trim()
    .split(/\s+/)
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, i) => first + i)
    })
}

/** Returns the code of a system without one, by its geographic system and the parameters of its projection; null if none agrees. */
export function codeByParameters(wkt: string): number | null {
  const name = /\b(?:GEOGCS|GEOGCRS|BASEGEOGCRS|BASEGEODCRS)\s*\[\s*"([^"]+)"/.exec(wkt)?.[1]
  const base = name === undefined ? undefined : geographicNamed(name)
  if (base === undefined) return null
  const wanted = parametersOfWkt(wkt)
  // A projected system whose text is cut off is unknown.
  if (wanted === null) return /^\W*PROJ/.test(wkt) ? null : base.code
  if (wanted.projection === 'webmerc') return 3857
  const equal = base.projected.filter((code) => {
    const has = parametersOfProj4(epsgDefinition(code) ?? '')
    return has !== null && agree(has, wanted)
  })
  if (equal.length < 2) return equal[0] ?? null
  // Zones of three degrees have the parameters of wider ones with the same meridian, and Krovak has two directions of its axes.
  const isThreeDegree = /3.?degree/i.test(wkt)
  const threeDegree = (code: number) => THREE_DEGREE.some(([from, to]) => code >= from && code <= to)
  const suited = equal.filter((code) => threeDegree(code) === isThreeDegree)
  const eastNorth = /XY_Plane_Rotation/.test(wkt) ? suited.find((code) => code === 5514 || code === 5221) : undefined
  if (eastNorth !== undefined) return eastNorth
  if (/TM35FIN/i.test(wkt) && equal.includes(3067)) return 3067
  // Two codes differ only by the order of their axes. Zones of Gauss and Kruger name north first by custom, all others east.
  const isGaussKruger = wanted.projection === 'tmerc' && wanted.numbers.at(-1) === 1
  const usual = (suited.length > 0 ? suited : equal).filter((code) => isNorthFirst(code) === isGaussKruger)
  return (isGaussKruger ? usual[0] : usual.at(-1)) ?? suited[0] ?? equal[0] ?? null
}

/** Codes of Gauss-Kruger zones of three degrees whose false easting has no number of the zone: Beijing 1954, Xian 1980, CGCS2000. */
const THREE_DEGREE: readonly (readonly [number, number])[] = [
  [2422, 2442],
  [2370, 2390],
  [4534, 4554],
]

interface Parameters {
  readonly projection: string
  /** metres of its unit of length */
  readonly unit: number
  /** origin, parallels, scale, and false origin in metres */
  readonly numbers: readonly number[]
}

const PROJECTIONS: readonly (readonly [RegExp, string])[] = [
  [/^mercator_auxiliary_sphere$/, 'webmerc'],
  [/^(?:transverse_mercator|gauss_kruger)/, 'tmerc'],
  [/^lambert_conformal_conic/, 'lcc'],
  [/^mercator/, 'merc'],
  [/^albers/, 'aea'],
  [/^lambert_azimuthal_equal_area/, 'laea'],
  [/^(?:double|oblique)_stereographic/, 'sterea'],
  [/^(?:stereographic|polar_stereographic)/, 'stere'],
  [/^krovak/, 'krovak'],
  [/^cassini/, 'cass'],
  [/^new_zealand_map_grid/, 'nzmg'],
  [/^polyconic/, 'poly'],
  [/^(?:equidistant_cylindrical|plate_carree|equirectangular)/, 'eqc'],
  [/^cylindrical_equal_area/, 'cea'],
]

/** Metres of the units of proj4. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['m', 1],
  ['km', 1000],
  ['ft', 0.3048],
  ['us-ft', 1200 / 3937],
])

function isSouthOrientated(projection: string): boolean {
  return /south.{0,3}orient/i.test(projection)
}

/** Returns null for a system that is not projected. */
function parametersOfWkt(wkt: string): Parameters | null {
  const told = /\bPROJECTION\s*\[\s*"([^"]+)"/.exec(wkt)?.[1] ?? /\bMETHOD\s*\[\s*"([^"]+)"/.exec(wkt)?.[1]
  if (told === undefined) return null
  const values = new Map<string, number>()
  for (const [, name = '', value] of wkt.matchAll(/\bPARAMETER\s*\[\s*"([^"]+)"\s*,\s*([-+.\deE]+)/g))
    values.set(plain(name), Number(value))
  const isSwiss = /^(?:hotine_oblique_mercator|swiss_oblique)/.test(plain(told)) && (values.get('azimuth') ?? 90) === 90
  const projection = isSwiss ? 'somerc' : (PROJECTIONS.find(([names]) => names.test(plain(told)))?.[1] ?? plain(told))
  const units = [...wkt.matchAll(/\b(?:LENGTH)?UNIT\s*\[\s*"[^"]*"\s*,\s*([-+.\deE]+)/g)].map((match) =>
    Number(match[1]),
  )
  const metres = units.at(-1) ?? 1
  const of = (...names: string[]) => names.map((name) => values.get(name)).find((value) => value !== undefined)
  const scale = of('scale_factor', 'scale_factor_at_natural_origin')
  const lat0 = of('latitude_of_origin', 'latitude_of_center', 'latitude_of_natural_origin', 'latitude_of_false_origin')
  return normal(projection, metres, {
    lat0,
    lon0: of(
      'central_meridian',
      'longitude_of_center',
      'longitude_of_origin',
      'longitude_of_natural_origin',
      'longitude_of_false_origin',
    ),
    lat1: of('standard_parallel_1', 'latitude_of_1st_standard_parallel'),
    lat2: of('standard_parallel_2', 'latitude_of_2nd_standard_parallel'),
    k: isSouthOrientated(told) ? -(scale ?? 1) : scale,
    x0: (of('false_easting', 'easting_at_false_origin') ?? 0) * metres,
    y0: (of('false_northing', 'northing_at_false_origin') ?? 0) * metres,
  })
}

function parametersOfProj4(definition: string): Parameters | null {
  const words = definition.split(/\s+/).map((word) => word.replace(/^\+/, '').split('='))
  const values = new Map(words.map(([name = '', value = '']) => [name, value]))
  const of = (name: string) => (values.has(name) ? Number(values.get(name)) : undefined)
  // Web Mercator is on a sphere, unlike other projections with the same parameters.
  const projection =
    values.get('nadgrids') === '@null' && values.get('proj') === 'merc' ? 'webmerc' : values.get('proj')
  if (projection === undefined || projection === 'longlat') return null
  if (projection === 'utm') {
    const y0 = values.has('south') ? 10_000_000 : 0
    return normal('tmerc', 1, { lat0: 0, lon0: (of('zone') ?? 0) * 6 - 183, k: 0.9996, x0: 500_000, y0 })
  }
  const unit = UNITS.get(values.get('units') ?? 'm') ?? of('to_meter') ?? Number.NaN
  return normal(projection, of('to_meter') ?? unit, {
    lat0: of('lat_0'),
    lon0: of('lon_0') ?? of('lonc'),
    lat1: of('lat_1') ?? (projection === 'stere' || projection === 'merc' ? of('lat_ts') : undefined),
    lat2: of('lat_2'),
    k: of('k') ?? of('k_0'),
    x0: of('x_0'),
    y0: of('y_0'),
  })
}

type Named = Readonly<Partial<Record<'lat0' | 'lon0' | 'lat1' | 'lat2' | 'k' | 'x0' | 'y0', number | undefined>>>

/** Returns the parameters that matter to a projection, of which writers name only some. */
function normal(
  projection: string,
  unit: number,
  { lat0 = 0, lon0 = 0, lat1, lat2, k = 1, x0 = 0, y0 = 0 }: Named,
): Parameters {
  const origin = [lon0, x0, y0]
  if (projection === 'krovak') return { projection, unit, numbers: [Math.abs(x0), Math.abs(y0)] }
  // A cone with one parallel touches the earth at its origin.
  if (projection === 'lcc') {
    const parallels = [lat1 ?? lat0, lat2 ?? lat1 ?? lat0].sort((a, b) => a - b)
    return { projection, unit, numbers: [...origin, lat0, ...parallels, k] }
  }
  if (projection === 'aea')
    return { projection, unit, numbers: [...origin, lat0, ...[lat1 ?? 0, lat2 ?? 0].sort((a, b) => a - b)] }
  if (projection === 'merc' || projection === 'eqc' || projection === 'cea')
    return { projection, unit, numbers: [...origin, Math.abs(lat1 ?? 0), k] }
  if (projection === 'stere')
    return {
      projection,
      unit,
      numbers: [...origin, Math.sign(lat0 || (lat1 ?? 0)), lat1 === undefined ? k : Math.abs(lat1)],
    }
  return { projection, unit, numbers: [...origin, lat0, k] }
}

/** Tolerance of angles in degrees and of scales; lengths are compared to a centimetre. */
const TOLERANCE = 1e-6
const CENTIMETRE = 0.01
/** Tolerance of metres in a unit: the two feet differ by 6e-7. */
const UNIT_TOLERANCE = 1e-8

function agree(a: Parameters, b: Parameters): boolean {
  if (a.projection !== b.projection || !(Math.abs(a.unit - b.unit) < UNIT_TOLERANCE)) return false
  return a.numbers.every((value, i) => {
    const other = b.numbers[i] as number
    return Math.abs(value - other) <= (Math.abs(value) > 1000 ? CENTIMETRE : TOLERANCE)
  })
}
