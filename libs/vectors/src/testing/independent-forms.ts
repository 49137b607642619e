/** Writers and readers of the forms for the round trip, which share no code with those of the gateway. */
import { DatabaseSync } from '@photostructure/sqlite'

type Coordinates = number | Coordinates[]
export interface Shape {
  readonly type: string
  readonly coordinates: Coordinates[]
}
export interface Place {
  readonly geometry: Shape
  readonly properties: Readonly<Record<string, unknown>>
}

/** Kinds of Well-Known Binary by their names, and the nesting of their coordinates; a part of a kind of several ones is of the kind before. */
const KINDS = ['', 'Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon']

/** Returns little-endian Well-Known Binary. */
export function wkbOf({ type, coordinates }: Shape): Buffer {
  const kind = KINDS.indexOf(type)
  const head = Buffer.from([1, kind, 0, 0, 0])
  const counted = (parts: readonly Buffer[]) => {
    const count = Buffer.alloc(4)
    count.writeUInt32LE(parts.length)
    return Buffer.concat([count, ...parts])
  }
  const position = (at: Coordinates) => Buffer.from(new Float64Array(at as number[]).buffer)
  const line = (at: Coordinates) => counted((at as Coordinates[]).map(position))
  if (kind === 1) return Buffer.concat([head, position(coordinates)])
  if (kind === 2) return Buffer.concat([head, line(coordinates)])
  if (kind === 3) return Buffer.concat([head, counted(coordinates.map(line))])
  const part = (at: Coordinates) => wkbOf({ type: KINDS[kind - 3] as string, coordinates: at as Coordinates[] })
  return Buffer.concat([head, counted(coordinates.map(part))])
}

/** Reads the geometry of a GeoPackage (OGC 12-128r18, section 2.1.3) with little-endian numbers. */
export function shapeOf(blob: Buffer): Shape {
  const envelope = ((blob[3] as number) >> 1) & 7
  let at = 8 + ([0, 32, 48, 48, 64][envelope] as number)
  const count = () => {
    at += 4
    return blob.readUInt32LE(at - 4)
  }
  const many = <T>(one: () => T): T[] => Array.from({ length: count() }, one)
  const position = () => {
    at += 16
    return [blob.readDoubleLE(at - 16), blob.readDoubleLE(at - 8)]
  }
  const shape = (): Shape => {
    const kind = blob.readUInt32LE(at + 1)
    at += 5
    const parts = () => many(() => shape().coordinates)
    const line = () => many(position)
    const coordinates: Coordinates[] = kind === 1 ? position() : kind === 2 ? line() : kind === 3 ? many(line) : parts()
    return { type: KINDS[kind] as string, coordinates }
  }
  return shape()
}

/** Reads Well-Known Text of two dimensions. */
export function shapeOfText(wkt: string): Shape {
  const word = /^\w+/.exec(wkt)?.[0] ?? ''
  const type = KINDS.find((one) => one.toUpperCase() === word) as string
  const text = wkt
    .slice(word.length)
    .replace(/[^(),]+/g, (place) => place.trim() && `[${place.trim().replace(' ', ',')}]`)
  const coordinates = JSON.parse(text.replaceAll('(', '[').replaceAll(')', ']')) as Coordinates[]
  if (type === 'Point') return { type, coordinates: coordinates[0] as Coordinates[] }
  return {
    type,
    coordinates:
      type === 'MultiPoint' ? coordinates.map((one) => (one as Coordinates[])[0] as Coordinates) : coordinates,
  }
}

/** Writes Well-Known Text. */
export function textOf({ type, coordinates }: Shape): string {
  const inner = (at: Coordinates): string =>
    typeof (at as Coordinates[])[0] === 'number'
      ? (at as number[]).join(' ')
      : `(${(at as Coordinates[]).map(inner).join(', ')})`
  return `${type.toUpperCase()} ${type === 'Point' ? `(${inner(coordinates)})` : inner(coordinates)}`
}

export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\r\n')
}

export function rowsOfCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  let [cell, isQuoted] = ['', false]
  for (let i = 0; i < text.length; i++) {
    const sign = text[i] as string
    const isDoubled = isQuoted && sign === '"' && text[i + 1] === '"'
    if (isDoubled) i++
    if (sign === '"' && !isDoubled) isQuoted = !isQuoted
    else if (isQuoted || !/[,\r\n]/.test(sign)) cell += sign
    else if (sign !== '\r') {
      rows.at(-1)?.push(cell)
      cell = ''
      if (sign === '\n') rows.push([])
    }
  }
  rows.at(-1)?.push(cell)
  return rows.filter((row) => row.length > 1)
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Writes the least GeoPackage that the standard allows, with the geometries in the column `__geom`. */
export function writeGeopackage(path: string, places: readonly Place[], types: Readonly<Record<string, string>>): void {
  const db = new DatabaseSync(path)
  const columns = Object.entries(types).map(([name, type]) => `, ${quoted(name)} ${type}`)
  db.exec(`
    CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
    CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT PRIMARY KEY, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER);
    INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, 'undefined');
    INSERT INTO gpkg_contents VALUES ('places', 'features', NULL, NULL, NULL, NULL, 4326);
    INSERT INTO gpkg_geometry_columns VALUES ('places', '__geom', 'GEOMETRY', 4326);
    CREATE TABLE places (__key INTEGER PRIMARY KEY, __geom BLOB${columns.join('')})`)
  const insert = db.prepare(`INSERT INTO places VALUES (NULL, ?${', ?'.repeat(columns.length)})`)
  for (const { geometry, properties } of places) {
    const head = Buffer.from([0x47, 0x50, 0, 1, 0xe6, 0x10, 0, 0])
    const values = Object.keys(types).map((name) => properties[name] ?? null)
    const cells = values.map((value) => (typeof value === 'boolean' ? Number(value) : value)) as (
      | string
      | number
      | null
    )[]
    insert.run(Buffer.concat([head, wkbOf(geometry)]), ...cells)
  }
  db.close()
}

/** Reads the only layer of a GeoPackage, with the names of its columns as the file states them. */
export function readGeopackage(path: string): Place[] {
  const db = new DatabaseSync(path)
  try {
    const one = db.prepare('SELECT table_name AS t, column_name AS g FROM gpkg_geometry_columns').get() as {
      t: string
      g: string
    }
    const booleans = (db.prepare(`PRAGMA table_info(${quoted(one.t)})`).all() as { name: string; type: string }[])
      .filter(({ type }) => type === 'BOOLEAN')
      .map(({ name }) => name)
    const statement = db.prepare(`SELECT * FROM ${quoted(one.t)}`)
    // Otherwise whole numbers from 2^53 on are an error.
    statement.setReadBigInts(true)
    const rows = statement.all() as Record<string, unknown>[]
    return rows.map(({ [one.g]: blob, ...properties }) => {
      for (const [name, value] of Object.entries(properties))
        if (typeof value === 'bigint') properties[name] = Number(value)
      for (const name of booleans) properties[name] = properties[name] === null ? null : properties[name] === 1
      return { geometry: shapeOf(Buffer.from(blob as Uint8Array)), properties }
    })
  } finally {
    db.close()
  }
}
