import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LAYOUTS, writeLayout } from '../testing/mbtiles-layouts.js'
import { openMbtiles } from './archive.js'
import { fromText, toText } from './page-layout.js'

let folder: string
let file: string
beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'page-layout-')))
  file = path.join(folder, 'a.mbtiles')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

function build(...sql: string[]): void {
  const database = new DatabaseSync(file)
  for (const one of sql) database.exec(one)
  database.close()
}

function layoutOf() {
  const opening = openMbtiles(folder, file)
  if (!opening.ok) throw new Error(opening.reason)
  opening.archive.close()
  return opening.archive.layout
}

const COLUMNS = 'zoom_level integer, tile_column integer, tile_row integer, tile_data blob'
const TABLE = `CREATE TABLE tiles (${COLUMNS})`
const INDEX = 'CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)'
const ROW = "INSERT INTO tiles VALUES (0, 0, 0, x'89')"
const [Z, X, Y, FOUND] = [0, 1, 2, 3]

describe('the pages of an archive', () => {
  it.each(Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[])('with the layout %s are described', (layout) => {
    writeLayout(file, layout, [{ z: 0, x: 0, y: 0, data: Buffer.from('tile') }])
    const found = layoutOf()
    expect(found).toMatchObject({ pageBytes: LAYOUTS[layout].pageBytes })
    expect(found?.steps.map(({ keys }) => keys)).toEqual(
      {
        tiles: [[Z, X, Y]],
        joined: [
          [Z, X, Y],
          [Z, FOUND],
        ],
        shallow: [[Z, X, Y], [FOUND]],
        hashed: [[Z, X, Y]],
        whole: [[Z, X, Y]],
      }[layout],
    )
    // The index of a WITHOUT ROWID table is the table; a row number needs no index.
    expect(found?.steps.map(({ index, table }) => [index > 0, table > 0])).toEqual(
      {
        tiles: [[true, true]],
        joined: [
          [true, true],
          [true, true],
        ],
        shallow: [
          [true, false],
          [false, true],
        ],
        hashed: [[true, true]],
        whole: [[true, false]],
      }[layout],
    )
  })

  it('are described in the order of the index', () => {
    build(TABLE, 'CREATE UNIQUE INDEX i ON tiles (tile_row, zoom_level, tile_column)', ROW)
    expect(layoutOf()?.steps[0]?.keys).toEqual([Y, Z, X])
  })

  it('keep their description on the way to another process', () => {
    build(TABLE, INDEX, ROW)
    const layout = layoutOf()
    expect(layout).not.toBeNull()
    expect(layout && fromText(JSON.parse(JSON.stringify(toText(layout))))).toEqual(layout)
  })

  it.each([
    ['an index that may hold an address twice', [TABLE, INDEX.replace('UNIQUE ', ''), ROW]],
    ['no index', [TABLE, ROW]],
    ['an index of some rows', [TABLE, `${INDEX} WHERE zoom_level < 5`, ROW]],
    ['an index with more columns', [TABLE, INDEX.replace('tile_row)', 'tile_row, tile_data)'), ROW]],
    ['a descending index', [TABLE, INDEX.replace('tile_column', 'tile_column DESC'), ROW]],
    ['an index of an expression', [TABLE, INDEX.replace('tile_row)', '-tile_row)'), ROW]],
    ['addresses in text', [TABLE.replace('zoom_level integer', 'zoom_level text'), INDEX, ROW]],
    ['addresses of any type', [TABLE.replace('zoom_level integer', 'zoom_level'), INDEX, ROW]],
    [
      'a computed column',
      [
        TABLE.replace('tile_data blob', 'tile_data blob, n AS (tile_row + 1)'),
        INDEX,
        "INSERT INTO tiles VALUES (0, 0, 0, x'89')",
      ],
    ],
    ['texts of 16 bits', ["PRAGMA encoding = 'UTF-16le'", TABLE, INDEX, ROW]],
    ['a write-ahead log', ['PRAGMA journal_mode = WAL', TABLE, INDEX, ROW]],
    [
      'two tables joined by a number and a text',
      [
        LAYOUTS.joined.schema.replace('tile_row integer, tile_id text', 'tile_row integer, tile_id integer'),
        "INSERT INTO map VALUES (0, 0, 0, 1); INSERT INTO images VALUES (0, x'89', '1')",
      ],
    ],
  ])('with %s are left to SQLite', (_, sql) => {
    build(...sql)
    const before = layoutOf()
    expect(before).toBeNull()
  })

  it('with a journal next to them are left to SQLite', () => {
    build(TABLE, INDEX, ROW)
    expect(layoutOf()).not.toBeNull()
    fs.writeFileSync(`${file}-journal`, '')
    expect(layoutOf()).toBeNull()
  })

  it('are not described while a writer holds them', () => {
    build(TABLE, INDEX, ROW)
    const writer = new DatabaseSync(file)
    writer.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE')
    expect(() => layoutOf()).toThrow(/locked/)
    writer.exec('COMMIT')
    writer.close()
    expect(layoutOf()).not.toBeNull()
  })

  it('have a stamp that is older than the last tick of the clock', () => {
    build(TABLE, INDEX, ROW)
    const stamp = layoutOf()?.stamp
    fs.utimesSync(file, 1, 1)
    const { ctimeNs } = fs.statSync(file, { bigint: true })
    expect(ctimeNs).toBeGreaterThan(stamp?.ctimeNs ?? ctimeNs)
  })
})
