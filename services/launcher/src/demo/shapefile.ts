/** What of GeoJSON (RFC 7946) becomes a record of a polygon shapefile. */
export interface PolygonFeature {
  readonly properties: Readonly<Record<string, string | number | null>>
  readonly geometry:
    | { readonly type: 'Polygon'; readonly coordinates: readonly Ring[] }
    | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly Ring[])[] }
}

type Ring = readonly (readonly [number, number])[]

const POLYGON = 5
const FILE_CODE = 9994
const VERSION = 1000
const HEADER_BYTES = 100
const RECORD_HEADER_BYTES = 8
/** Shape type, bounding box, number of parts and of points. */
const POLYGON_HEADER_BYTES = 44

/** The .shp and .shx files of polygons, after the ESRI Shapefile Technical Description (1998). */
export function encodePolygons(features: readonly PolygonFeature[]): { shp: Buffer; shx: Buffer } {
  const contents = features.map(({ geometry }) => encodeShape(ringsOf(geometry)))
  const bounds = boundsOf(features.flatMap(({ geometry }) => ringsOf(geometry)))
  const records: Buffer[] = []
  const index: Buffer[] = []
  let offset = HEADER_BYTES
  contents.forEach((content, i) => {
    records.push(bigEndian(i + 1, content.length / 2), content)
    index.push(bigEndian(offset / 2, content.length / 2))
    offset += RECORD_HEADER_BYTES + content.length
  })
  return {
    shp: Buffer.concat([fileHeader(offset, bounds), ...records]),
    shx: Buffer.concat([fileHeader(HEADER_BYTES + index.length * RECORD_HEADER_BYTES, bounds), ...index]),
  }
}

/** All rings of a geometry, outer ones clockwise and holes counter-clockwise: in shapefiles that is how they are told apart. */
function ringsOf(geometry: PolygonFeature['geometry']): Ring[] {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  return polygons.flatMap((rings) =>
    rings.map((ring, i) => (isClockwise(ring) === (i === 0) ? ring : [...ring].reverse())),
  )
}

function isClockwise(ring: Ring): boolean {
  let twiceArea = 0
  for (let i = 1; i < ring.length; i++) {
    const [[x1, y1], [x2, y2]] = [ring[i - 1]!, ring[i]!]
    twiceArea += (x2 - x1) * (y2 + y1)
  }
  return twiceArea > 0
}

function encodeShape(rings: readonly Ring[]): Buffer {
  const points = rings.flat()
  const shape = Buffer.alloc(POLYGON_HEADER_BYTES + 4 * rings.length + 16 * points.length)
  shape.writeInt32LE(POLYGON, 0)
  writeDoubles(shape, 4, boundsOf(rings))
  shape.writeInt32LE(rings.length, 36)
  shape.writeInt32LE(points.length, 40)
  let first = 0
  rings.forEach((ring, i) => {
    shape.writeInt32LE(first, POLYGON_HEADER_BYTES + 4 * i)
    first += ring.length
  })
  writeDoubles(shape, POLYGON_HEADER_BYTES + 4 * rings.length, points.flat())
  return shape
}

function fileHeader(bytes: number, bounds: readonly number[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeInt32BE(FILE_CODE, 0)
  header.writeInt32BE(bytes / 2, 24)
  header.writeInt32LE(VERSION, 28)
  header.writeInt32LE(POLYGON, 32)
  writeDoubles(header, 36, bounds)
  return header
}

function boundsOf(rings: readonly Ring[]): [number, number, number, number] {
  const bounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of rings.flat()) {
    bounds[0] = Math.min(bounds[0], x)
    bounds[1] = Math.min(bounds[1], y)
    bounds[2] = Math.max(bounds[2], x)
    bounds[3] = Math.max(bounds[3], y)
  }
  return bounds
}

/** Lengths and offsets are in 16-bit words. */
function bigEndian(a: number, b: number): Buffer {
  const pair = Buffer.alloc(8)
  pair.writeInt32BE(a, 0)
  pair.writeInt32BE(b, 4)
  return pair
}

function writeDoubles(buffer: Buffer, start: number, values: readonly number[]): void {
  values.forEach((value, i) => {
    buffer.writeDoubleLE(value, start + 8 * i)
  })
}
