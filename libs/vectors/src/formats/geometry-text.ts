import { writeGeoJson } from './geojson-geometry.js'
import type { WkbWriter } from './wkb-writer.js'
import { writeWkt } from './wkt.js'

/** Matches Well-Known Text. */
const WKT = /^(?:SRID=(\d{1,6});)?\s{0,9}(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)(?:ZM?|M)?\b/i
/** Matches Well-Known Binary in hexadecimal digits, as PostGIS writes it, from the size of a point on. */
const HEX = /^(?:00|01)[0-9a-f]{40,}$/i
/** Matches the beginning of a geometry of GeoJSON. */
const JSON_OBJECT = /^\{\s{0,9}"(?:type|coordinates|geometries|crs)"/
/** Bit of the type in the extended Well-Known Binary of PostGIS, behind which a code of EPSG follows. */
const HAS_SRID = 0x20000000

/** True for a text that looks like a geometry: Well-Known Text, hexadecimal Well-Known Binary or GeoJSON. */
export function isGeometryText(text: string): boolean {
  return WKT.test(text) || HEX.test(text) || JSON_OBJECT.test(text)
}

/** Returns the code of EPSG that a geometry of PostGIS names, or undefined. */
export function epsgOfText(text: string): string | undefined {
  if (!HEX.test(text)) return WKT.exec(text)?.[1]
  const { srid } = extended(Buffer.from(text.slice(0, 18), 'hex'))
  return srid === null ? undefined : String(srid)
}

/** Writes a geometry of any of these forms. Returns false if it is damaged. */
export function writeGeometryText(text: string, writer: WkbWriter): boolean {
  if (HEX.test(text)) {
    writer.raw(extended(Buffer.from(text, 'hex')).wkb)
    return true
  }
  if (!text.startsWith('{')) return writeWkt(text, writer)
  try {
    return writeGeoJson(JSON.parse(text), writer)
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Takes the code of the system out of extended Well-Known Binary, which only the outermost geometry has. */
function extended(bytes: Buffer): { wkb: Buffer; srid: number | null } {
  const isLittle = bytes[0] === 1
  const type = isLittle ? bytes.readUInt32LE(1) : bytes.readUInt32BE(1)
  if ((type & HAS_SRID) === 0) return { wkb: bytes, srid: null }
  const srid = isLittle ? bytes.readUInt32LE(5) : bytes.readUInt32BE(5)
  const wkb = Buffer.concat([bytes.subarray(0, 5), bytes.subarray(9)])
  if (isLittle) wkb.writeUInt32LE((type & ~HAS_SRID) >>> 0, 1)
  else wkb.writeUInt32BE((type & ~HAS_SRID) >>> 0, 1)
  return { wkb, srid: srid === 0 ? null : srid }
}
