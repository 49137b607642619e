import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { HOSTILE_DRAWINGS } from '@gateway/styles/testing/hostile-drawings.js'
import { HOSTILE_FONTS } from '@gateway/styles/testing/hostile-fonts.js'
import { DatabaseSync } from '@photostructure/sqlite'
import { ZipArchive } from 'archiver'

const STYLE = JSON.stringify({ version: 8, sources: {}, layers: [{ id: 'bg', type: 'background' }] })
const MEGABYTE = 1024 * 1024
const DEPTH = 100_000

export async function place(file: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

/** Writes vectors that cost far more than their size: to read, to convert or to unpack. */
export async function writeVectors(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const point = '"geometry":{"type":"Point","coordinates":[1,1]}'
  const row = `1,1,${Array(20_000).fill('x').join()}\n`
  const names = Array.from({ length: 20_000 }, (_, i) => `c${i}`).join()
  await place(join(folder, 'wide.csv'), `lon,lat,${names}\n${row.repeat(100)}`)
  const nested = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`
  await place(join(folder, 'deep.geojson'), `{"type":"Feature","properties":{"a":${nested}},${point}}`)
  const text = 'x'.repeat(100 * MEGABYTE)
  await place(join(folder, 'long.geojson'), `{"type":"Feature","properties":{"a":"${text}"},${point}}`)
  await place(join(folder, 'polygons.geojson'), JSON.stringify(hugePolygons()))
  const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')
  const kml = `<!DOCTYPE kml [<!ENTITY a0 "aaaaaaaaaa">${entities}]><kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>&a9;</name><Point><coordinates>1,1</coordinates></Point></Placemark></kml>`
  await place(join(folder, 'entities.kml'), kml)
  writeView(
    join(folder, 'recursive.gpkg'),
    'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS fid, POINT AS geom FROM c WHERE x < 0',
  )
  writeView(join(folder, 'blob.gpkg'), 'SELECT 1 AS fid, POINT AS geom, hex(zeroblob(400000000)) AS text')
  await writeWideShapefile(join(folder, 'shape.zip'))
}

/** Four polygons of 200,000 corners each, whose sides cross. */
function hugePolygons(): object {
  const corners = 200_000
  const ring = (west: number) => {
    const points = Array.from({ length: corners }, (_, i) => {
      const [angle, radius] = [(2 * Math.PI * i) / corners, 20 * (1 + 0.3 * Math.sin(i * 37))]
      return [west + radius * Math.cos(angle), radius * Math.sin(angle)]
    })
    return [...points, points[0]]
  }
  const features = [-90, -30, 30, 90].map((west) => ({
    type: 'Feature',
    properties: {},
    geometry: { type: 'Polygon', coordinates: [ring(west)] },
  }))
  return { type: 'FeatureCollection', features }
}

function writeView(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  const point = "x'47500001e61000000101000000000000000000f03f000000000000f03f'"
  db.exec(`
    PRAGMA application_id = 1196444487;
    PRAGMA user_version = 10300;
    CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INTEGER, definition TEXT, description TEXT);
    INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]', '');
    CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT, identifier TEXT, description TEXT, last_change TEXT, min_x REAL, min_y REAL, max_x REAL, max_y REAL, srs_id INTEGER);
    INSERT INTO gpkg_contents VALUES ('bad', 'features', 'bad', '', '2026-01-01T00:00:00Z', -10, -10, 10, 10, 4326);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z INTEGER, m INTEGER);
    INSERT INTO gpkg_geometry_columns VALUES ('bad', 'geom', 'POINT', 4326, 0, 0);
    CREATE VIEW bad AS ${sql.replace('POINT', point)}`)
  db.close()
}

/** A zipped shapefile of a few megabytes whose table of 500,000 records has a gigabyte. */
async function writeWideShapefile(file: string): Promise<void> {
  const [records, fields] = [500_000, 8]
  const head = (code: number, bytes: number) => {
    const start = Buffer.alloc(100)
    start.writeInt32BE(code, 0)
    start.writeInt32BE(bytes / 2, 24)
    start.writeInt32LE(1000, 28)
    start.writeInt32LE(1, 32)
    return start
  }
  const shape = Buffer.alloc(28)
  shape.writeInt32BE(10, 4)
  shape.writeInt32LE(1, 8)
  shape.writeDoubleLE(1, 12)
  shape.writeDoubleLE(1, 20)
  const shapes = function* () {
    yield head(9994, 100 + records * shape.length)
    for (let i = 0; i < records; i += 1000) {
      const block = Buffer.alloc(1000 * shape.length, shape)
      for (let n = 0; n < 1000; n++) block.writeInt32BE(i + n + 1, n * shape.length)
      yield block
    }
  }
  const index = function* () {
    yield head(9994, 100 + records * 8)
    const block = Buffer.alloc(8 * records)
    for (let i = 0; i < records; i++) {
      block.writeInt32BE(50 + i * 14, i * 8)
      block.writeInt32BE(10, i * 8 + 4)
    }
    yield block
  }
  const table = function* () {
    const start = Buffer.alloc(32 + 32 * fields + 1)
    start.set([3, 124, 1, 1])
    start.writeUInt32LE(records, 4)
    start.writeUInt16LE(start.length, 8)
    start.writeUInt16LE(1 + 254 * fields, 10)
    for (let k = 0; k < fields; k++) {
      start.write(`N${k}`, 32 + 32 * k)
      start.write('C', 32 + 32 * k + 11)
      start[32 + 32 * k + 16] = 254
    }
    start[start.length - 1] = 13
    yield start
    const row = Buffer.alloc(1 + 254 * fields, 'A')
    row[0] = 32
    for (let i = 0; i < records; i += 1000) yield Buffer.alloc(1000 * row.length, row)
  }
  const archive = new ZipArchive({ zlib: { level: 9 } })
  const written = finished(archive.pipe(createWriteStream(file)))
  archive.append(Readable.from(shapes()), { name: 'w.shp' })
  archive.append(Readable.from(index()), { name: 'w.shx' })
  archive.append(Readable.from(table()), { name: 'w.dbf' })
  await archive.finalize()
  await written
}

/** Writes styles with hostile drawings and fonts, and one with ten thousand drawings. */
export async function writeStyles(folder: string): Promise<void> {
  const icon =
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect width="9" height="9" fill="red"/></svg>'
  for (const [i, make] of Object.values(HOSTILE_DRAWINGS).entries()) {
    await place(join(folder, `drawing-${i}/style.json`), STYLE)
    await place(join(folder, `drawing-${i}/icons/a.svg`), make())
  }
  for (const [i, make] of Object.values(HOSTILE_FONTS).entries()) await place(join(folder, `fonts/F${i}/f.ttf`), make())
  await place(join(folder, 'many/style.json'), STYLE)
  for (let i = 0; i < 10_000; i++) await place(join(folder, `many/icons/i${i}.svg`), icon)
}

/** Writes archives of tiles whose directories and rows cost more than they say. */
export async function writeMaps(folder: string): Promise<void> {
  await place(join(folder, 'directory.pmtiles'), pmtiles(Buffer.alloc(300 * MEGABYTE)))
  await place(join(folder, 'count.pmtiles'), pmtiles(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 1])))
  await place(join(folder, 'image.tif'), hugeTiff())
  const db = new DatabaseSync(join(folder, 'rows.mbtiles'))
  db.exec(`
    CREATE TABLE metadata (name text, value text);
    INSERT INTO metadata VALUES ('name', 'x'), ('format', 'png');
    CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL);
    INSERT INTO tiles (zoom_level, tile_column, tile_row) VALUES (0, 0, 0)`)
  db.close()
}

/** An archive (PMTiles 3) with this root directory, in gzip. */
function pmtiles(root: Buffer): Buffer {
  const [packed, metadata] = [gzipSync(root), gzipSync('{}')]
  const head = Buffer.alloc(127)
  head.write('PMTiles')
  head[7] = 3
  const at = 127 + packed.length
  const sections = [
    127,
    packed.length,
    at,
    metadata.length,
    at + metadata.length,
    0,
    at + metadata.length,
    100,
    1,
    1,
    1,
  ]
  for (const [i, number] of sections.entries()) head.writeBigUInt64LE(BigInt(number), 8 + 8 * i)
  head.set([1, 2, 1, 2, 0, 14], 96)
  return Buffer.concat([head, packed, metadata, Buffer.alloc(100)])
}

/** A TIFF that declares 2^31 pixels on each side, in one tile. */
function hugeTiff(): Buffer {
  const side = 0x7fffffff
  const tags = [
    ...[
      [256, 4, 1, side],
      [257, 4, 1, side],
      [258, 3, 1, 8],
      [259, 3, 1, 5],
      [262, 3, 1, 1],
      [277, 3, 1, 1],
    ],
    ...[
      [322, 4, 1, side],
      [323, 4, 1, side],
      [324, 4, 1, 200],
      [325, 4, 1, 200],
    ],
  ]
  const file = Buffer.alloc(4096)
  file.write('II*\0')
  file.writeUInt32LE(8, 4)
  file.writeUInt16LE(tags.length, 8)
  for (const [i, [tag = 0, type = 0, count = 0, value = 0]] of tags.entries()) {
    file.writeUInt16LE(tag, 10 + 12 * i)
    file.writeUInt16LE(type, 12 + 12 * i)
    file.writeUInt32LE(count, 14 + 12 * i)
    file.writeUInt32LE(value, 18 + 12 * i)
  }
  return file
}

/** Zips of styles for uploads: a font that expands, a file of zeros of a gigabyte, and 100,000 empty files. */
export async function uploads(): Promise<readonly Buffer[]> {
  const zip = async (fill: (archive: ZipArchive) => void) => {
    const archive = new ZipArchive({ zlib: { level: 9 } })
    archive.append(STYLE, { name: 'style.json' })
    fill(archive)
    void archive.finalize()
    return buffer(archive)
  }
  const [[, font] = ['', () => Buffer.alloc(0)]] = Object.entries(HOSTILE_FONTS)
  const zeros = function* () {
    for (let i = 0; i < 1024; i++) yield Buffer.alloc(MEGABYTE)
  }
  return [
    await zip((archive) => archive.append(font(), { name: 'fonts/F/f.ttf' })),
    await zip((archive) => archive.append(Readable.from(zeros()), { name: 'icons/x.svg' })),
    await zip((archive) => {
      for (let i = 0; i < 100_000; i++) archive.append('', { name: `icons/${i}.svg` })
    }),
  ]
}
