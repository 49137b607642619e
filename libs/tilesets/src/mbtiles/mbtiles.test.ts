import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BrokenArchiveError } from '../broken-archive.js'
import { makeEndlessView } from '../testing/endless-archives.js'
import { openMbtiles } from './archive.js'
import { probeMbtiles } from './probe.js'

const WEBP = Buffer.from('524946461a000000574542505650384c0d0000002f00000010071011118888fe0700', 'hex')
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
)
const TABLES = `CREATE TABLE metadata (name text, value text);
  CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob);
  CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row);`

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mbtiles-'))
  // All characters with a meaning in the URI of an SQLite database.
  file = path.join(folder, 'a b?mode=rw#%41.mbtiles')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

/** The layout that stores equal tiles once; the view comes last. */
const twoTables = (keys: string, data: string, id: string) => `CREATE TABLE metadata (name text, value text);
  CREATE TABLE ${keys} (zoom_level integer, tile_column integer, tile_row integer, ${id} text,
    PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID;
  CREATE TABLE ${data} (tile_data blob, ${id} text);
  CREATE UNIQUE INDEX ${data}_id ON ${data} (${id});
  INSERT INTO ${keys} VALUES (0, 0, 0, 'a'); INSERT INTO ${data} VALUES (x'89504e470d0a1a0a', 'a');
  CREATE VIEW tiles AS SELECT ${keys}.zoom_level AS zoom_level, "${keys}"."tile_column" AS tile_column,
    ${keys}.tile_row AS tile_row, ${data}.tile_data AS tile_data FROM ${keys} JOIN ${data} ON ${data}.${id} = ${keys}.${id};`

type Row = [z: number, column: number, row: number, data: Buffer]

function write(schema: string, tiles: Row[] = [], metadata: Record<string, string> = {}): void {
  const database = new DatabaseSync(file)
  database.exec(schema)
  const insert = tiles.length > 0 ? database.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)') : null
  for (const tile of tiles) insert?.run(...tile)
  for (const entry of Object.entries(metadata)) database.prepare('INSERT INTO metadata VALUES (?, ?)').run(...entry)
  database.close()
}

/** Makes a write-ahead log without prepared statements, which would keep a connection and the log alive until they are collected. */
function useWriteAheadLog(): void {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL')
  database.close()
}

function open() {
  const opening = openMbtiles(folder, file)
  if (!opening.ok) throw new Error(opening.reason)
  return opening.archive
}

function read(z: number, x: number, y: number): string | null {
  const archive = open()
  try {
    const data = archive.tile(z, x, y)
    return data === null ? null : Buffer.from(data).toString('latin1')
  } finally {
    archive.close()
  }
}

describe('an archive', () => {
  it('counts its rows from the south, whatever scheme its metadata copied from elsewhere', async () => {
    write(
      TABLES,
      [
        [2, 1, 0, Buffer.from('south')],
        [2, 1, 3, Buffer.from('north')],
      ],
      { scheme: 'xyz' },
    )
    expect([read(2, 1, 0), read(2, 1, 3), read(2, 1, 1)]).toEqual(['north', 'south', null])
  })

  it('in a character set other than UTF-8 can be read as well', () => {
    write(TABLES, [[0, 0, 0, PNG]])
    const database = new DatabaseSync(file)
    database.exec(
      "INSERT INTO metadata VALUES ('name', CAST(x'5a fc 72 69 63 68' AS TEXT))".replaceAll(/(?<=x'[0-9a-f ]*) /g, ''),
    )
    database.close()
    expect(probeMbtiles(folder, file)?.name).toBe('Z\uFFFDrich')
  })

  it('stays open for its owner to write to', async () => {
    write(TABLES, [[0, 0, 0, PNG]])
    const set = open()
    set.tile(0, 0, 0)
    const owner = new DatabaseSync(file)
    owner.exec('DELETE FROM tiles')
    owner.close()
    expect(set.tile(0, 0, 0)).toBeNull()
    set.close()
  })

  it.each([
    ['map', 'images', 'tile_id'],
    ['tiles_shallow', 'tiles_data', 'tile_data_id'],
  ])('may show its tiles through a view over %s and %s', (keys, data, id) => {
    write(twoTables(keys, data, id))
    expect(read(0, 0, 0)).toBe('\x89PNG\r\n\x1a\n')
    expect(read(1, 0, 0)).toBeNull()
    expect(probeMbtiles(folder, file)).toMatchObject({ format: 'png', minZoom: 0, maxZoom: 0 })
  })

  it.each([
    'FROM map m JOIN images i ON m.tile_id = i.tile_id',
    'FROM map AS m LEFT OUTER JOIN images AS i ON i.tile_id=m.tile_id',
    'FROM "map" "m" INNER JOIN [images] [i] ON [i].tile_id = "m".tile_id',
  ])('may use other names of the tables in its view: %s', (joined) => {
    const columns = 'm.zoom_level, m.tile_column, M.tile_row, i.tile_data'
    const view = `CREATE VIEW tiles AS SELECT ${columns} ${joined}`
    write(twoTables('map', 'images', 'tile_id').replace(/CREATE VIEW[^;]*/, view))
    expect(read(0, 0, 0)).toBe('\x89PNG\r\n\x1a\n')
    expect(probeMbtiles(folder, file)).toMatchObject({ format: 'png', minZoom: 0, maxZoom: 0 })
  })

  it('may keep one image for each zoom, as tippecanoe does', () => {
    write(`CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
      CREATE UNIQUE INDEX map_index ON map (zoom_level, tile_column, tile_row);
      CREATE TABLE images (zoom_level integer, tile_data blob, tile_id text);
      CREATE UNIQUE INDEX images_id ON images (zoom_level, tile_id);
      INSERT INTO map VALUES (0, 0, 0, 'a'), (1, 0, 0, 'a');
      INSERT INTO images VALUES (0, CAST('shallow' AS blob), 'a'), (1, CAST('deep' AS blob), 'a');
      CREATE VIEW tiles AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, map.tile_row AS tile_row,
        images.tile_data AS tile_data FROM map JOIN images ON images.tile_id = map.tile_id AND images.zoom_level = map.zoom_level;`)
    expect([read(0, 0, 0), read(1, 0, 1)]).toEqual(['shallow', 'deep'])
  })

  it('is described by its metadata', async () => {
    const json = JSON.stringify({ vector_layers: [{ id: 'roads', fields: { kind: 'String' } }] })
    write(TABLES, [[4, 7, 10, gzipSync(Buffer.from('1a057802', 'hex'))]], {
      name: 'Roads',
      format: 'pbf',
      bounds: '-1.5,50,2,52.25',
      minzoom: '3',
      maxzoom: '5',
      attribution: 'me',
      description: 'd',
      json,
    })
    expect(probeMbtiles(folder, file)).toMatchObject({
      storage: 'mbtiles',
      format: 'pbf',
      extension: 'pbf',
      encoding: 'gzip',
      tileSize: 512,
      minZoom: 4,
      maxZoom: 4,
      bounds: [-1.5, 50, 2, 52.25],
      name: 'Roads',
      attribution: 'me',
      description: 'd',
      vectorLayers: [{ id: 'roads', fields: { kind: 'String' } }],
    })
    const set = open()
    expect(set.tile(4, 7, 5)).toEqual(new Uint8Array(gzipSync(Buffer.from('1a057802', 'hex'))))
    set.close()
  })

  it('is described by its tiles if it has no metadata', () => {
    write(TABLES.replace(/.*;\n/, ''), [
      [0, 0, 0, PNG],
      [3, 0, 0, PNG],
    ])
    expect(probeMbtiles(folder, file)).toMatchObject({
      format: 'png',
      tileSize: 1,
      minZoom: 0,
      maxZoom: 3,
      // Bounds from the deepest zoom; the tile of zoom 0 does not extend them.
      bounds: [-180, expect.closeTo(-85.05), -135, expect.closeTo(-79.17)],
      boundsDerived: true,
      rowsAssumed: true,
      name: null,
      warnings: ['there is no usable metadata table'],
    })
  })

  it.each([
    ['data compressed by zlib', deflateSync('vector')],
    ['something else', Buffer.from([2, 1])],
  ])('is reported to look like %s instead of vector tiles', (looks, data) => {
    write(TABLES, [[1, 0, 0, data]], { format: 'pbf' })
    expect(probeMbtiles(folder, file)?.warnings.join()).toContain(
      `the tiles are declared as pbf but look like ${looks}`,
    )
  })

  it.each([
    ['png', 'webp', WEBP],
    ['pbf', 'png', PNG],
  ])('that declares %s is served as %s by its bytes', (said, format, data) => {
    write(TABLES, [[1, 0, 0, data]], { format: said })
    expect(probeMbtiles(folder, file)).toMatchObject({
      format,
      extension: format,
      warnings: [`the tiles are declared as ${said}, but their bytes are ${format}: they are served as ${format}`],
    })
  })

  it('with two formats has both, the more frequent one first', () => {
    write(TABLES, [
      [0, 0, 0, PNG],
      [1, 0, 0, WEBP],
      [2, 0, 0, WEBP],
    ])
    const found = probeMbtiles(folder, file)
    expect([found?.format, found?.formats, found?.warnings]).toEqual(['webp', ['webp', 'png'], []])
  })

  it('that names no grid lies in the geographic one if its columns fit no other', () => {
    write(TABLES, [
      [0, 0, 0, PNG],
      [0, 1, 0, PNG],
      [1, 3, 1, PNG],
    ])
    expect(probeMbtiles(folder, file)).toMatchObject({
      tileMatrixSet: 'WorldCRS84Quad',
      bounds: [-180, -90, 180, 90],
      warnings: [expect.stringContaining('zoom 0 has a column 1, which Web Mercator does not have')],
    })
  })

  it('stays in Web Mercator if only one column east of the grid has tiles, as GDAL draws features near the 180th meridian', () => {
    const columns = [0, 1, 2].flatMap((z) => Array.from({ length: 2 ** z + 1 }, (_, x) => [z, x, 0, PNG] as const))
    write(
      TABLES,
      columns.map((tile) => [...tile]),
      { bounds: '-170,-80,175,85' },
    )
    expect(probeMbtiles(folder, file)).toMatchObject({
      tileMatrixSet: 'WebMercatorQuad',
      bounds: [-170, -80, 175, 85],
      warnings: [expect.stringContaining('zoom 0 has a column 1')],
    })
    fs.rmSync(file)
    write(
      TABLES,
      columns.map((tile) => [...tile]),
    )
    expect(probeMbtiles(folder, file)?.bounds?.slice(0, 3)).toEqual([-180, expect.any(Number), 180])
  })

  it('at the prime meridian is geographic, though its tiles reach only one column over half of the grid', () => {
    const columns = [0, 1, 2].flatMap((z) => [2 ** z - 1, 2 ** z].map((x) => [z, x, 0, PNG] as const))
    write(
      TABLES,
      columns.map((tile) => [...tile]),
    )
    expect(probeMbtiles(folder, file)).toMatchObject({ tileMatrixSet: 'WorldCRS84Quad' })
  })

  it('has rows from the north if its declared bounds contain its tiles in no other order', () => {
    const tiles: [number, number, number, Buffer][] = [[5, 16, 10, PNG]]
    write(TABLES, tiles, { bounds: '1,53,10,55' })
    expect(probeMbtiles(folder, file)).toMatchObject({
      rowsFromNorth: true,
      bounds: [1, 53, 10, 55],
      warnings: [expect.stringContaining('rows are counted from the north: the bounds of the metadata')],
    })
    fs.rmSync(file)
    write(TABLES, [[5, 16, 21, PNG]], { bounds: '1,53,10,55' })
    expect(probeMbtiles(folder, file)).toMatchObject({ rowsFromNorth: false, rowsAssumed: false, warnings: [] })
  })

  it('is refused with the name of its format if that is not supported', () => {
    for (const [format, tile] of [
      ['quantized-mesh-1.0', gzipSync(Buffer.alloc(100, 7))],
      ['json', gzipSync('{"grid": []}')],
      ['json', Buffer.from('{}')],
    ] as const) {
      write(TABLES, [[1, 0, 0, tile]], { format })
      expect(() => probeMbtiles(folder, file)).toThrow(`tiles of the format "${format}" are not supported`)
      fs.rmSync(file)
    }
  })

  it.each(['mlt', 'application/vnd.maplibre-vector-tile'])('of MapLibre Tiles says so as %s', (format) => {
    write(TABLES, [[1, 0, 0, gzipSync(Buffer.from([2, 1]))]], { format })
    expect(probeMbtiles(folder, file)).toMatchObject({ format: 'mlt', encoding: 'gzip', tileSize: 512, warnings: [] })
  })

  it('has the bounds of its tiles if the declared ones contain none, with both in a warning', () => {
    write(TABLES, [[5, 16, 21, PNG]], { bounds: '-100,-50,-90,-40' })
    expect(probeMbtiles(folder, file)).toMatchObject({
      boundsDerived: true,
      bounds: [0, expect.closeTo(48.92, 2), 11.25, expect.closeTo(55.78, 2)],
      warnings: [
        expect.stringMatching(
          /the bounds -100, -50, -90, -40 contain no tile: at zoom 5 .* the tiles have columns 16-16/,
        ),
      ],
    })
  })

  it('has bounds and no warning of tiles at a zoom that no map has', () => {
    const tiles: Row[] = [
      [5, 16, 21, PNG],
      [99, 0, 0, PNG],
    ]
    write(TABLES, tiles, { bounds: '1,53,10,55', minzoom: '5', maxzoom: '5' })
    expect(probeMbtiles(folder, file)).toMatchObject({ bounds: [1, 53, 10, 55], maxZoom: 5, warnings: [] })
  })

  it('has every zoom with a tile, though the first rows of some are empty', () => {
    const empty = Buffer.alloc(0)
    const rows = [1, 2].flatMap((z): Row[] => [
      [z, 0, 0, empty],
      [z, 0, 1, empty],
      [z, 1, 1, PNG],
    ])
    write(TABLES, [...rows, [3, 0, 0, empty]], { format: 'png' })
    expect(probeMbtiles(folder, file)).toMatchObject({ minZoom: 1, maxZoom: 2, format: 'png' })
  })

  it('of packed data that is no vector tile is not served as one', () => {
    write(TABLES, [[0, 0, 0, gzipSync('{"a": 1}')]], { name: 'json' })
    expect(() => probeMbtiles(folder, file)).toThrow('neither the metadata nor a tile tells the format')
  })

  it('without tiles is not served', () => {
    write(TABLES)
    expect(probeMbtiles(folder, file)).toBeNull()
  })

  it('is read without creating a file next to it, in write-ahead mode too', async () => {
    write(TABLES, [[0, 0, 0, PNG]])
    useWriteAheadLog()
    expect(fs.readdirSync(folder)).toHaveLength(1)
    expect(read(0, 0, 0)).toBe(PNG.toString('latin1'))
    probeMbtiles(folder, file)
    expect(fs.readdirSync(folder)).toHaveLength(1)
  })

  it('shows committed changes in the write-ahead log, and its fingerprint changes', async () => {
    write(TABLES, [[0, 0, 0, PNG]])
    useWriteAheadLog()
    const before = probeMbtiles(folder, file)?.fingerprint
    const writer = new DatabaseSync(file)
    writer.prepare('INSERT INTO tiles VALUES (1, 0, 0, ?)').run(PNG)
    try {
      expect(read(1, 0, 1)).toBe(PNG.toString('latin1'))
      expect(probeMbtiles(folder, file)?.fingerprint).not.toBe(before)
    } finally {
      writer.close()
    }
  })
})

describe('an archive that cannot be served', () => {
  const expectBroken = (words: RegExp) => {
    for (const use of [() => openMbtiles(folder, file), () => probeMbtiles(folder, file)]) {
      expect(use).toThrow(BrokenArchiveError)
      expect(use).toThrow(words)
    }
  }

  it.each([
    ['no database', () => fs.writeFileSync(file, 'x'.repeat(5000)), /not an SQLite database/],
    ['empty', () => fs.writeFileSync(file, ''), /not an SQLite database/],
    ['without tiles table', () => write('CREATE TABLE other (a)'), /no table of tiles/],
    ['without the columns', () => write('CREATE TABLE tiles (a)'), /has no column zoom_level/],
    [
      'endless',
      () =>
        write(`CREATE VIEW tiles AS WITH c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
      SELECT n AS zoom_level, n AS tile_column, n AS tile_row, x'00' AS tile_data FROM c`),
      /of an unknown form/,
    ],
    ['endless by indexes alone', () => makeEndlessView(file), /of an unknown form/],
    [
      'two tables behind more than a join',
      () => write(twoTables('map', 'images', 'tile_id').replace(/;\s*$/, " WHERE images.tile_id <> 'x';")),
      /of an unknown form/,
    ],
    [
      'two tables of which one is a view',
      () =>
        write(
          twoTables('map', 'images', 'tile_id')
            .replace('CREATE TABLE images', 'CREATE TABLE pictures')
            .replace(/CREATE UNIQUE INDEX images_id.*/, '')
            .replace('INTO images', 'INTO pictures')
            .concat('CREATE VIEW images AS SELECT * FROM pictures;'),
        ),
      /of an unknown form/,
    ],
    [
      'computed columns',
      () =>
        write(`CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer,
          tile_data blob GENERATED ALWAYS AS (zeroblob(zoom_level)))`),
      /computes its column tile_data/,
    ],
    [
      'a virtual table',
      () => write('CREATE VIRTUAL TABLE tiles USING fts5 (zoom_level, tile_column, tile_row, tile_data)'),
      /not a plain table/,
    ],
  ])('is refused: %s', async (_name, make, words) => {
    make()
    expectBroken(words)
  })

  it('is refused if pages are damaged or missing', async () => {
    const tiles = Array.from({ length: 200 }, (_, i): Row => [8, i, 0, Buffer.alloc(3000, i)])
    write(TABLES, tiles)
    const good = fs.readFileSync(file)
    fs.writeFileSync(file, Buffer.concat([good.subarray(0, 100), Buffer.alloc(good.length - 100, 0xab)]))
    expectBroken(/cannot be read/)
    fs.writeFileSync(file, good.subarray(0, 3000))
    expectBroken(/cut off/)
    fs.writeFileSync(file, good.subarray(0, 4096 * 3))
    expect(() => read(8, 150, 255)).toThrow(BrokenArchiveError)
  })

  it('is refused if each tile would cost a read of a large table', async () => {
    const big = Array.from({ length: 20 }, (_, i): Row => [8, i, 0, Buffer.alloc(1_000_000, i)])
    write(TABLES.replace(/CREATE UNIQUE.*/, ''), big)
    expectBroken(/no index/)
  })

  it('is refused if it leads out of the source', async () => {
    fs.symlinkSync('/etc/passwd', file)
    expect(openMbtiles(folder, file)).toEqual({ ok: false, reason: 'outside' })
    expect(probeMbtiles(folder, file)).toBeNull()
  })
})

it('reports a number that JavaScript cannot represent as a defect of the archive', () => {
  const number = '9223372036854775807'
  write(TABLES, [[1, 0, 0, PNG]])
  const database = new DatabaseSync(file)
  database.exec(`INSERT INTO tiles VALUES (2, ${number}, 0, x'00'), (3, 1, 1, ${number})`)
  database.close()
  expect(() => probeMbtiles(folder, file)).toThrow(BrokenArchiveError)
  const archive = open()
  expect(() => archive.tile(3, 1, 6)).toThrow(BrokenArchiveError)
  expect(archive.tile(1, 0, 1)).not.toBeNull()
  archive.close()
})
