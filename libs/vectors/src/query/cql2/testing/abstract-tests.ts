import { readFileSync, writeFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'

/*
 * The tables of predicates of the abstract test suite of CQL2 (OGC 21-065r2, annex A) of the conformance classes that are declared, and its test
 * data, which is derived from Natural Earth: `cql2/standard` of https://github.com/opengeospatial/ogcapi-features. A combination of four
 * predicates is written out. Three numbers of the table of ACCENTI do not agree with the data; they are corrected as issue 1011 there says.
 */

const TABLES = {
  countries: 'ne_110m_admin_0_countries',
  places: 'ne_110m_populated_places_simple',
  rivers: 'ne_110m_rivers_lake_centerlines',
} as const
export type TestLayer = keyof typeof TABLES
export const TEST_LAYERS = Object.keys(TABLES) as readonly TestLayer[]

export interface AbstractTest {
  readonly conformanceClass: string
  readonly layer: TestLayer
  readonly predicate: string
  readonly expected: number
}

/** Returns the tests, with the name that the geometry has here. */
export function abstractTests(): AbstractTest[] {
  const lines = readFileSync(new URL('abstract-tests.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => {
    const [conformanceClass = '', layer = '', predicate = '', expected] = line.split('\t')
    const named = predicate.replaceAll('(geom,', '(geometry,')
    return { conformanceClass, layer: layer as TestLayer, predicate: named, expected: Number(expected) }
  })
}

/** Returns the features of a layer, with texts of WKB in hexadecimal as geometries, and the types that Postgres has for its columns. */
export function readTestLayer(layer: TestLayer, file: string) {
  writeTestLayer(layer, file)
  const db = new DatabaseSync(file, { readOnly: true })
  const columns = db.prepare('SELECT name, type FROM pragma_table_info(?)').all(TABLES[layer]) as unknown as Column[]
  const rows = db.prepare(`SELECT * FROM ${TABLES[layer]}`).all() as Record<string, unknown>[]
  db.close()
  const features = rows.map(({ geom, ...row }) => {
    const blob = Buffer.from(geom as Uint8Array)
    // The header of GeoPackage ends with an envelope, whose kind is in three bits of its flags (OGC 12-128r18, 2.1.3).
    const start = 8 + ENVELOPE_BYTES[(blob[3]! >> 1) & 7]!
    const truth = typeof row.boolean === 'number' ? { boolean: row.boolean === 1 } : {}
    return { ...row, ...truth, geom: blob.toString('hex', start) }
  })
  return { columns: columns.map(({ name, type }) => ({ name, type: postgresType(type) })), features }
}

interface Column {
  readonly name: string
  readonly type: string
}

const ENVELOPE_BYTES = [0, 32, 48, 48, 64]

function postgresType(type: string): string {
  if (/POINT|LINESTRING|POLYGON/.test(type)) return 'geometry'
  if (type.startsWith('TEXT')) return 'text'
  const types: Record<string, string> = { REAL: 'float8', DATETIME: 'timestamptz', DATE: 'date', BOOLEAN: 'boolean' }
  return types[type] ?? 'bigint'
}

/** Writes OGC's GeoPackage with only one of its layers. */
export function writeTestLayer(layer: TestLayer, file: string): void {
  writeFileSync(file, brotliDecompressSync(readFileSync(new URL('ne110m4cql2.gpkg.br', import.meta.url))))
  const db = new DatabaseSync(file)
  db.prepare('DELETE FROM gpkg_geometry_columns WHERE table_name <> ?').run(TABLES[layer])
  db.prepare('DELETE FROM gpkg_contents WHERE table_name <> ?').run(TABLES[layer])
  db.close()
}
