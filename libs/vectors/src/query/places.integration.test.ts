import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildIndex } from '../index-file/build-index.js'
import { INDEX_FILE } from '../index-file/index-description.js'
import { type Crs, crsListOf, findCrs, toCrs } from './crs.js'
import { parseItemsQuery, type QueriedIndex } from './parameters.js'
import { OpenIndex } from './run-query.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-places-'))

/** Names with their longitudes, some of which are one turn further. */
const PLACES: readonly (readonly [string | null, number])[] = [
  ['Chișinău', 28.8],
  ['Chicago', -87.7],
  ['Kiev', 30.5],
  ['Москва', 37.6],
  ['МОСКВА', 37.7],
  ['Ёлкино', 60],
  ['Straße', 10],
  ['ΣΊΣΥΦΟΣ', 22],
  ['ᾼδης', 22.1],
  ['Suva', 178.4],
  ['Apia', -171.8],
  ['Beyond', 188.2],
  ['Before', -181.6],
  ['London', 0],
  [null, 5],
]

let index: QueriedIndex
const opened: OpenIndex[] = []
beforeAll(async () => {
  index = await indexOf('places', PLACES)
  opened.push(new OpenIndex(index.file), new OpenIndex(withoutTexts(index.file)), new OpenIndex(index.file, 2))
})

async function indexOf(code: string, places: typeof PLACES): Promise<QueriedIndex> {
  const features = places.map(([name, longitude]) => ({
    type: 'Feature',
    properties: { name },
    geometry: { type: 'Point', coordinates: [longitude, -10] },
  }))
  const output = join(home, code)
  fs.mkdirSync(output)
  const path = join(home, `${code}.geojson`)
  fs.writeFileSync(path, JSON.stringify({ type: 'FeatureCollection', features }))
  const rest = { fingerprint: null, encoding: null, code, crs: 'OGC:CRS84', limits: { memoryMb: 1500 } }
  const description = await buildIndex({ source: { root: home, path }, kind: 'geojson', output, ...rest })
  return { description, revision: code, file: join(output, INDEX_FILE) }
}

/** Returns a copy of an index as an earlier release wrote it. */
function withoutTexts(file: string): string {
  const before = `${file}-before.gpkg`
  fs.copyFileSync(file, before)
  const db = new DatabaseSync(before)
  db.exec('DROP TABLE folded_texts; DROP TABLE unaccented_texts')
  db.close()
  return before
}
afterAll(() => {
  for (const one of opened) one.close()
  fs.rmSync(home, { recursive: true, force: true })
})

/** Returns the names that a query finds, which are the same with and without the folded texts, and with and without the texts of features. */
function found(parameters: Record<string, string>, of = index, by = opened): (string | null)[] {
  const query = parseItemsQuery(new URLSearchParams(parameters).toString(), '', of)
  const answers = by.flatMap((one) =>
    [query, { ...query, texts: null }].map((asked) => {
      const text = Buffer.concat([...one.run(asked)].map(({ bytes }) => bytes)).toString()
      return (JSON.parse(`[${text}]`) as { properties: { name: string | null } }[]).map(
        ({ properties }) => properties.name,
      )
    }),
  )
  for (const answer of answers) expect(answer).toEqual(answers[0])
  return answers[0] ?? []
}

describe('comparison without case and accents, as in the abstract tests of CQL2 (A.6.4, A.6.5)', () => {
  test.each([
    ["CASEI(name) = casei('KIEV')", 1],
    ["CASEI(name) = casei('chișinău')", 1],
    ["CASEI(name) = casei('chisinau')", 0],
    ["CASEI(name) LIKE casei('ch%')", 2],
    ["CASEI(name) IN (casei('Kiev'), casei('КИЕВ'), casei('москва'))", 3],
    ["CASEI(name) = casei('москва')", 2],
    ["CASEI(name) = 'москва'", 2],
    ["NOT (CASEI(name) = casei('москва'))", PLACES.length - 3],
    ["CASEI(name) <> casei('москва')", PLACES.length - 3],
    ["CASEI(name) LIKE casei('%СКВ_')", 2],
    ["CASEI(name) NOT LIKE casei('%СКВ_')", PLACES.length - 3],
    ["CASEI(name) = casei('STRASSE')", 1],
    ["CASEI(name) = casei('σίσυφος')", 1],
    ["ACCENTI(name) = accenti('Chișinău')", 1],
    ["ACCENTI(name) = accenti('Chisinau')", 1],
    ["ACCENTI(name) = accenti('Kiev')", 1],
    ["ACCENTI(name) = 'kiev'", 0],
    ["ACCENTI(name) = accenti('Елкино')", 1],
    ["ACCENTI(CASEI(name)) = accenti(casei('CHIȘINĂU'))", 1],
    ["CASEI(ACCENTI(name)) = casei(accenti('chisinau'))", 1],
    ["ACCENTI(name) LIKE accenti('Ch%')", 2],
    ["ACCENTI(name) LIKE accenti('Stra_e')", 1],
    ["ACCENTI(name) LIKE accenti('Chi_inau')", 1],
    ["ACCENTI(name) LIKE 'Chi\\_inau'", 0],
    ["NOT (ACCENTI(name) = accenti('Chisinau'))", PLACES.length - 2],
    ["ACCENTI(name) NOT IN (accenti('Chisinau'), 'Kiev')", PLACES.length - 3],
    ["ACCENTI(name) <> accenti('Chisinau')", PLACES.length - 2],
    ["ACCENTI(name) = accenti('ᾼδης')", 1],
    ["ACCENTI(name) = 'Αδης'", 1],
    ["ACCENTI(CASEI(name)) = 'αιδησ'", 1],
    ["CASEI(ACCENTI(name)) = casei('ΑΔΗΣ')", 1],
    ["ACCENTI(CASEI(name)) = accenti(casei('ёлкино'))", 1],
    ["ACCENTI(CASEI(name)) LIKE accenti(casei('cHis%'))", 1],
    ["ACCENTI(CASEI(name)) IN (accenti(casei('Kiev')), accenti(casei('chisinau')))", 2],
  ])('%s finds %i', (filter, count) => {
    expect(found({ filter })).toHaveLength(count)
  })
})

test('texts of which nearly all match are the same by those that do not match', async () => {
  const few = await indexOf(
    'few',
    PLACES.filter(([name]) => name !== 'ᾼδης'),
  )
  const by = [new OpenIndex(few.file), ...[1, 3, 5].map((most) => new OpenIndex(few.file, most))]
  by.push(new OpenIndex(withoutTexts(few.file)))
  const values = ['%i%', '%о%', '%A%', '%Ё%', 'ki_v', '%', 'Kiev', 'chişinău', '_uva']
  const both = (text: string) => `ACCENTI(CASEI(${text}))`
  for (const value of values.map((one) => `'${one}'`)) {
    const filters = [
      `CASEI(name) NOT LIKE CASEI(${value})`,
      `${both('name')} NOT LIKE ${both(value)}`,
      `ACCENTI(name) NOT LIKE ACCENTI(${value})`,
      `${both('name')} <> ${both(value)}`,
      `CASEI(name) <> CASEI(${value})`,
      `NOT (CASEI(name) LIKE CASEI(${value}) OR ${both('name')} LIKE ${both("'%u%'")})`,
      `NOT (NOT (${both('name')} LIKE ${both(value)}))`,
    ]
    for (const filter of filters) expect(found({ filter }, few, by), filter).toBeDefined()
  }
  for (const one of by) one.close()
})

describe('a box beyond the antimeridian means the same place one turn further', () => {
  test.each([
    ['170,-50,190,0', ['Suva', 'Apia', 'Beyond', 'Before']],
    ['170,-50,-170,0', ['Suva', 'Apia', 'Beyond', 'Before']],
    ['-190,-50,-170,0', ['Suva', 'Apia', 'Beyond', 'Before']],
    ['185,-50,190,0', ['Apia', 'Beyond']],
    ['-175,-50,-170,0', ['Apia', 'Beyond']],
    ['178,-50,179,0', ['Suva', 'Before']],
    ['359,-50,361,0', ['London']],
    ['-1,-50,1,0', ['London']],
    ['-180,-50,180,0', PLACES.map(([name]) => name)],
  ])('%s', (bbox, names) => {
    expect(found({ bbox })).toEqual(names)
    const filter = `S_INTERSECTS(geometry, BBOX(${bbox}))`
    expect(found({ filter })).toEqual(names)
    expect(found({ filter: `NOT ${filter}` })).toHaveLength(PLACES.length - names.length)
  })

  test('a box in EPSG:3857', () => {
    const metres = (degrees: number) => (degrees / 180) * 20_037_508.342789244
    const bbox = [metres(185), metres(-50), metres(190), 0].join()
    expect(found({ bbox, 'bbox-crs': 'http://www.opengis.net/def/crs/EPSG/0/3857' })).toEqual(['Apia', 'Beyond'])
  })

  test.each(['EPSG:4326', 'EPSG:3857'])('a box of a single rounded position in %s has its feature', (name) => {
    for (const [place, longitude] of PLACES) {
      const crs = findCrs(crsListOf(index.description), name) as Crs
      const at = (toCrs(crs) ?? ((x: number, y: number) => [x, y]))(longitude, -10)
      expect(found({ bbox: [...at, ...at].join(), 'bbox-crs': crs.uri })).toContain(place)
    }
  })
})
