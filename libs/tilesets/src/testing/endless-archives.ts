import fs from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'

/** The smallest PNG: one grey pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
)

/**
 * Makes 14 KB of MBTiles with one tile, for which its view counts the rows of six indexed joins of a table of 1,000. Its plan has only index
 * searches, and no time is enough for it.
 */
export function makeEndlessView(file: string): void {
  const joins = Array.from({ length: 5 }, (_, i) => `JOIN n n${i + 1} ON n${i + 1}.k = n0.k`).join(' ')
  build(
    file,
    1024,
    `CREATE TABLE n (k integer, i integer, PRIMARY KEY (k, i)) WITHOUT ROWID;
    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000) INSERT INTO n SELECT 1, i FROM c;
    CREATE TABLE t (z integer, x integer, y integer, PRIMARY KEY (z, x, y)) WITHOUT ROWID;
    INSERT INTO t VALUES (0, 0, 0);
    CREATE VIEW tiles AS SELECT z AS zoom_level, x AS tile_column, y AS tile_row,
      (SELECT CAST(count(*) AS blob) FROM n n0 ${joins} WHERE n0.k = 1) AS tile_data FROM t`,
  )
}

/** Number of interior pages between the root and the only leaf, which is reached by CHILDREN^LEVELS paths. */
const LEVELS = 9
const CHILDREN = 400
const PAGE_BYTES = 4096

/**
 * Makes MBTiles of plain tables with the only tile 0/0/0, whose pages repeatedly lead to the same page: a search for any other tile never ends.
 * Has no index, so that every search reads the whole table.
 */
export function makeEndlessTable(file: string): void {
  build(
    file,
    PAGE_BYTES,
    `CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob);
    INSERT INTO tiles VALUES (0, 0, 0, x'${PIXEL.toString('hex')}')`,
  )
  makeTableEndless(file, 'tiles')
}

/** Makes the pages of a table with one page, of 4096 bytes, repeatedly lead to the same page. */
export function makeTableEndless(file: string, table: string): void {
  const database = new DatabaseSync(file)
  const { rootpage } = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)
  database.close()
  const pages = fs.readFileSync(file)
  const root = (rootpage - 1) * PAGE_BYTES
  const first = pages.length / PAGE_BYTES + 1
  const leaf = Buffer.from(pages.subarray(root, root + PAGE_BYTES))
  const interior = Array.from({ length: LEVELS }, (_, level) => interiorPage(first + level))
  interiorPage(first + LEVELS).copy(pages, root)
  pages.writeUInt32BE(first + LEVELS, 28)
  fs.writeFileSync(file, Buffer.concat([pages, leaf, ...interior]))
}

/** Returns an interior page of a table (SQLite file format, section 1.6) whose children are all the same page. */
function interiorPage(child: number): Buffer {
  const page = Buffer.alloc(PAGE_BYTES)
  const cells = PAGE_BYTES - CHILDREN * 5
  page[0] = 5
  page.writeUInt16BE(CHILDREN, 3)
  page.writeUInt16BE(cells, 5)
  page.writeUInt32BE(child, 8)
  for (let i = 0; i < CHILDREN; i++) {
    page.writeUInt16BE(cells + i * 5, 12 + i * 2)
    page.writeUInt32BE(child, cells + i * 5)
    page[cells + i * 5 + 4] = 1
  }
  return page
}

function build(file: string, pageBytes: number, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA page_size = ${pageBytes};
    CREATE TABLE metadata (name text, value text);
    INSERT INTO metadata VALUES ('name', 'endless'), ('format', 'png');
    ${sql}`)
  database.close()
}
