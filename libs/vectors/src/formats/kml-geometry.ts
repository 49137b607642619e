/** A geometry of KML in the form of GeoJSON. */
interface ParsedGeometry {
  readonly type: string
  coordinates: unknown[]
  readonly parts: ParsedGeometry[]
}

const KINDS: Readonly<Record<string, string>> = {
  Point: 'Point',
  LineString: 'LineString',
  LinearRing: 'LineString',
  Track: 'LineString',
  Polygon: 'Polygon',
  MultiGeometry: 'GeometryCollection',
  MultiTrack: 'GeometryCollection',
}

/** True for the name of an element that is a geometry. */
export function isGeometry(name: string): boolean {
  return Object.hasOwn(KINDS, name)
}

/** Builds the geometry of a placemark from the elements of KML, and of Google's extension for tracks. */
export class KmlGeometry {
  /** from the outermost to the innermost that has begun */
  readonly #open: ParsedGeometry[] = []
  #made: object | null = null

  /** as GeoJSON; null: the placemark has no geometry */
  get made(): object | null {
    return this.#made
  }

  begin(name: string): void {
    this.#open.push({ type: KINDS[name] as string, coordinates: [], parts: [] })
  }

  /** Takes the text of an element in a geometry. */
  text(name: string, text: string): void {
    const geometry = this.#open.at(-1)
    if (geometry === undefined) return
    if (name === 'coordinates') geometry.coordinates = positionsOf(text, ',')
    else if (name === 'coord') geometry.coordinates.push(...positionsOf(text, ' '))
  }

  end(): void {
    const ended = this.#open.pop()
    const outer = this.#open.at(-1)
    if (ended === undefined) return
    if (outer !== undefined) outer.parts.push(ended)
    else this.#made ??= geoJsonOf(ended)
  }
}

function geoJsonOf({ type, coordinates, parts }: ParsedGeometry): object {
  if (type === 'Point') return { type, coordinates: coordinates[0] ?? [] }
  if (type === 'LineString') return { type, coordinates }
  if (type === 'Polygon') return { type, coordinates: parts.map((ring) => ring.coordinates) }
  const geometries = parts.map(geoJsonOf) as { type: string; coordinates: unknown }[]
  const [first] = geometries
  const isOneKind = first !== undefined && geometries.every((one) => one.type === first.type)
  // A collection of one kind is a geometry of several parts.
  if (isOneKind && /^(?:Point|LineString|Polygon)$/.test(first.type))
    return { type: `Multi${first.type}`, coordinates: geometries.map((one) => one.coordinates) }
  return { type, geometries }
}

/** Returns the positions of a text, whose numbers are separated by a comma, or by a blank in a track. */
function positionsOf(text: string, separator: ',' | ' '): number[][] {
  // Some writers put a blank behind the comma.
  const whole = separator === ',' ? text.replaceAll(/\s{0,9},\s{0,9}/g, ',') : text.replaceAll(/\s{1,9}/g, ',')
  return whole
    .split(/\s+/)
    .filter((one) => one !== '')
    .map((one) => one.split(',').slice(0, 3).map(Number))
    .map(([x = Number.NaN, y = Number.NaN, z = Number.NaN]) => (Number.isNaN(z) ? [x, y] : [x, y, z]))
}
