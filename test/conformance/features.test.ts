import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

/*
 * The abstract tests of OGC API – Features, part 1 (OGC 17-069r4, annex A), part 2 (OGC 18-058r1) and part 3 (OGC 19-079r2), for the
 * conformance classes that this service claims, and the section "Vectors as features" of its contract.
 */

const execute = promisify(execFile)
const COUNT = 2_500
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const EPSG = 'http://www.opengis.net/def/crs/EPSG/0/'

let token: string
let few: string
const gateway = useGateway({}, async (started) => {
  const root = join(started.home, 'vectors')
  await mkdir(root, { recursive: true })
  const features = Array.from({ length: COUNT }, (_, i) => ({
    type: 'Feature',
    id: `p-${i}`,
    properties: {
      name: `town ${i}`,
      population: i,
      capital: i % 2 === 0,
      founded: `2020-01-${String(1 + (i % 28)).padStart(2, '0')}`,
      note: i % 5 === 0 ? null : 'Näßé 道路',
    },
    geometry: { type: 'Point', coordinates: [100 + (i % 50) / 10, 30 + Math.floor(i / 50) / 10] },
  }))
  await writeFile(join(root, 'points.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
  const ring = [
    [113, 30],
    [114, 30],
    [114, 31],
    [113, 31],
    [113, 30],
  ]
  const area = { type: 'Feature', properties: { name: 'a' }, geometry: { type: 'Polygon', coordinates: [ring] } }
  await writeFile(join(root, 'area4326.geojson'), JSON.stringify({ type: 'FeatureCollection', features: [area] }))
  await execute('ogr2ogr', ['-t_srs', 'EPSG:4547', join(root, 'area.gpkg'), join(root, 'area4326.geojson')])
  for (const [i, name] of ['first', 'second layer'].entries())
    await execute('ogr2ogr', [
      ...(i > 0 ? ['-update'] : []),
      join(root, 'two.gpkg'),
      join(root, 'area4326.geojson'),
      '-nln',
      name,
    ])
  const mixed = ['Point', 'MultiPoint', 'LineString', 'Polygon', null].map((type, i) => ({
    type: 'Feature',
    properties: { i },
    geometry: type && {
      type,
      coordinates: { Point: [1, 1], MultiPoint: ring, LineString: ring, Polygon: [ring] }[type],
    },
  }))
  await writeFile(join(root, 'mixed.geojson'), JSON.stringify({ type: 'FeatureCollection', features: mixed }))
  await writeFile(join(root, 'broken.geojson'), '{"type":"FeatureCollection","features":[{"type":"Feature"')
  await started.admin.scanSource('vectors', 'vector', root)
  token = (await started.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })).token
  few = (await started.issueToken({ basemap_codes: ['*'], vector_codes: ['area'] })).token
})

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(gateway().url + path, { method, headers: { 'X-Access-Token': token, ...headers } })

interface Link {
  rel: string
  href: string
  type: string
}
interface Features {
  type: string
  features: { id: string; properties: Record<string, unknown>; geometry: { type: string; coordinates: number[] } }[]
  links: Link[]
  numberReturned: number
  numberMatched?: number
}
const POINTS = '/ogc/collections/points'
const items = async (parameters: Record<string, string> = {}) => {
  const answer = await ask(`${POINTS}/items?${new URLSearchParams(parameters)}`)
  const text = await answer.text()
  expect([answer.status, text.slice(0, 300)]).toEqual([200, expect.any(String)])
  return JSON.parse(text) as Features
}
const ids = async (parameters: Record<string, string>) => (await items(parameters)).features.map(({ id }) => id)
const nextOf = ({ links }: Features) => links.find(({ rel }) => rel === 'next')?.href

describe('part 1: core', () => {
  test('the landing page links the API definition, the conformance declaration and the collections', async () => {
    const { links } = (await (await ask('/ogc')).json()) as { links: Link[] }
    for (const rel of ['service-desc', 'conformance', 'data']) expect(links.map((link) => link.rel)).toContain(rel)
    const href = links.find(({ type }) => type.endsWith('version=3.0'))?.href ?? ''
    const definition = await fetch(href, { headers: { 'X-Access-Token': token } })
    expect(definition.headers.get('content-type')).toBe('application/vnd.oai.openapi+json;version=3.0')
    expect(await definition.json()).toMatchObject({ openapi: '3.0.3' })
  })

  test('the conformance declaration names the classes of parts 1 to 3', async () => {
    const { conformsTo } = (await (await ask('/ogc/conformance')).json()) as { conformsTo: string[] }
    expect(conformsTo).toEqual(
      expect.arrayContaining([
        'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core',
        'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson',
        'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30',
        'http://www.opengis.net/spec/ogcapi-features-2/1.0/conf/crs',
        'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/features-filter',
        'http://www.opengis.net/spec/cql2/1.0/conf/basic-cql2',
      ]),
    )
  })

  test('a collection has links to its items, an extent, its item type and its systems', async () => {
    const collection = (await (await ask(POINTS)).json()) as { links: Link[]; crs: string[] }
    expect(collection).toMatchObject({ id: 'points', itemType: 'feature', extent: { spatial: { crs: CRS84 } } })
    expect(collection.links.filter(({ rel }) => rel === 'items').map(({ type }) => type)).toContain(
      'application/geo+json',
    )
    const { collections } = (await (await ask('/ogc/collections')).json()) as { collections: { id: string }[] }
    expect(collections.find(({ id }) => id === 'points')).toEqual(collection)
  })

  test('a page has 100 features unless limit says otherwise, and at most 10,000', async () => {
    const page = await items()
    expect(page).toMatchObject({ type: 'FeatureCollection', numberReturned: 100, numberMatched: COUNT })
    expect(page.features).toHaveLength(100)
    expect((await items({ limit: '1' })).features).toHaveLength(1)
    expect((await items({ limit: '999999' })).features).toHaveLength(COUNT)
  })

  test('next leads through all features, each exactly once, in every order', async () => {
    for (const sortby of ['', '-note,name', 'capital']) {
      const found: string[] = []
      let page: Features | null = await items({ limit: '700', ...(sortby === '' ? {} : { sortby }) })
      while (page !== null) {
        found.push(...page.features.map(({ id }) => id))
        const next = nextOf(page)
        page =
          next === undefined
            ? null
            : ((await (await fetch(next, { headers: { 'X-Access-Token': token } })).json()) as Features)
      }
      expect([found.length, new Set(found).size]).toEqual([COUNT, COUNT])
    }
  })

  test('offset skips features', async () => {
    expect(await ids({ offset: '2499' })).toEqual(['p-2499'])
    expect(await ids({ offset: '2500' })).toEqual([])
  })

  test('bbox selects the features that it touches, also across the antimeridian', async () => {
    expect(await ids({ bbox: '100,30,100.1,30' })).toEqual(['p-0', 'p-1'])
    expect(await ids({ bbox: '100,30,-5,100.1,30,5' })).toEqual(['p-0', 'p-1'])
    expect((await items({ bbox: '104.85,30,-170,30.05', limit: '9' })).features.map(({ id }) => id)).toEqual(['p-49'])
  })

  test('datetime selects by the date, by instants and open intervals', async () => {
    expect((await items({ datetime: '2020-01-03', limit: '10000' })).numberReturned).toBe(90)
    expect(await ids({ datetime: '2020-01-02/2020-01-03', limit: '2' })).toEqual(['p-1', 'p-2'])
    expect(await ids({ datetime: '../2020-01-01', limit: '2' })).toEqual(['p-0', 'p-28'])
    expect(await ids({ datetime: '2020-01-28T00:00:00Z/..', limit: '1' })).toEqual(['p-27'])
  })

  test('a feature has a URL with its id', async () => {
    const answer = await ask(`${POINTS}/items/p-7`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/geo+json'])
    const feature = (await answer.json()) as { links: Link[] }
    expect(feature).toMatchObject({
      type: 'Feature',
      id: 'p-7',
      properties: { name: 'town 7', population: 7, capital: false, founded: '2020-01-08', note: 'Näßé 道路' },
    })
    expect(feature.links.map(({ rel }) => rel)).toEqual(['self', 'collection'])
    expect((await ask(`${POINTS}/items/nobody`)).status).toBe(404)
  })

  test.each([
    ['items?unknown=1', 'unknown'],
    ['items?limit=0', 'limit'],
    ['items?limit=x', 'limit'],
    ['items?limit=1&limit=2', 'twice'],
    ['items?bbox=1,2,3', 'bbox'],
    ['items?bbox=1,x,3,4', 'bbox'],
    ['items?datetime=yesterday', 'datetime'],
    ['items?datetime=2020-02-30', 'datetime'],
    ['items?f=xml', 'geojson'],
    ['items?population=many', 'population'],
    ['items?properties=nothing', 'nothing'],
    ['items?sortby=nothing', 'nothing'],
    ['items?crs=EPSG:1', 'crs'],
    ['items?filter-lang=xpath', 'filter-lang'],
    ['items?filter=nothing%3D1', 'nothing'],
    ['items?filter=population%3D', 'character 12'],
    ["items?filter=population%3D'x'", 'population'],
    ['items?cursor=abc', 'cursor'],
    ['queryables?x=1', 'x'],
    ['?x=1', 'x'],
  ])('%s returns 400, with the place of what is wrong', async (path, said) => {
    const answer = await ask(`${POINTS}${path.startsWith('?') ? '' : '/'}${path}`)
    const { error } = (await answer.json()) as { error: string }
    expect([answer.status, error]).toEqual([400, expect.stringContaining(said)])
  })

  test('HEAD returns the headers of GET without a body', async () => {
    for (const path of [
      `${POINTS}/items`,
      `${POINTS}/items?f=csv`,
      `${POINTS}/items/p-1`,
      POINTS,
      `${POINTS}/schema`,
    ]) {
      const [get, head] = [await ask(path), await ask(path, {}, 'HEAD')]
      expect([path, head.status, head.headers.get('content-type')]).toEqual([
        path,
        200,
        get.headers.get('content-type'),
      ])
      expect(await head.text()).toBe('')
      await get.arrayBuffer()
    }
  })
})

describe('part 2: coordinate reference systems', () => {
  test('a collection lists its systems, including its own', async () => {
    const collection = await (await ask('/ogc/collections/area')).json()
    const always = [CRS84, `${EPSG}4326`, `${EPSG}3857`, `${EPSG}4490`]
    expect(collection).toMatchObject({ crs: [...always, `${EPSG}4547`], storageCrs: `${EPSG}4547` })
  })

  test.each([
    [CRS84, [100, 30]],
    [`${EPSG}4326`, [30, 100]],
    [`${EPSG}4490`, [30, 100]],
    [`${EPSG}3857`, [11131949.0793, 3503549.8435]],
  ])('features are in %s, in the order of its axes, and the answer says so', async (crs, position) => {
    const answer = await ask(`${POINTS}/items?limit=1&crs=${encodeURIComponent(crs)}`)
    expect(answer.headers.get('content-crs')).toBe(`<${crs}>`)
    const { features } = (await answer.json()) as Features
    expect(features[0]?.geometry.coordinates).toEqual(position)
  })

  test('the storage system has its own axis order, north first', async () => {
    const answer = await ask(`/ogc/collections/area/items?crs=${EPSG}4547`)
    const { features } = (await answer.json()) as { features: { geometry: { coordinates: number[][][] } }[] }
    const [north = 0, east = 0] = features[0]?.geometry.coordinates[0]?.[0] ?? []
    expect([Math.round(north / 1000), Math.round(east / 1000)]).toEqual([3321, 404])
    const box = [3320000, 400000, 3330000, 450000].join(',')
    const inside = await ask(`/ogc/collections/area/items?bbox=${box}&bbox-crs=${EPSG}4547`)
    expect(((await inside.json()) as Features).numberReturned).toBe(1)
  })

  test('bbox and filter are in the system that their parameters name', async () => {
    expect(await ids({ bbox: '30,100,30,100.1', 'bbox-crs': `${EPSG}4326` })).toEqual(['p-0', 'p-1'])
    const filter = 'S_INTERSECTS(geometry, POINT(30 100.1))'
    expect(await ids({ filter, 'filter-crs': `${EPSG}4326` })).toEqual(['p-1'])
  })
})

describe('part 3: filters', () => {
  test('queryables are a JSON schema of the properties that filters may name', async () => {
    const answer = await ask(`${POINTS}/queryables`)
    expect(answer.headers.get('content-type')).toBe('application/schema+json')
    expect(await answer.json()).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
      properties: {
        geometry: { format: 'geometry-point' },
        name: { type: 'string' },
        population: { type: 'integer' },
        capital: { type: 'boolean' },
        founded: { type: 'string', format: 'date' },
      },
    })
    expect((await ask(`${POINTS}/schema`)).status).toBe(200)
  })

  test.each([
    ['population = 7', 1],
    ['population <> 7', COUNT - 1],
    ['population >= 10 AND population < 20', 10],
    ["population = 1 OR name = 'town 2'", 2],
    ['NOT (population > 1)', 2],
    ['population BETWEEN 5 AND 9', 5],
    ["name IN ('town 1', 'town 2', 'town x')", 2],
    ["name LIKE 'town 24_'", 10],
    ["name NOT LIKE 'town 1%'", 1389],
    ["name LIKE 'TOWN 24_'", 0],
    ["CASEI(name) LIKE CASEI('TOWN 24_')", 10],
    ['note IS NULL', 500],
    ['note IS NOT NULL', 2000],
    ['capital = TRUE', 1250],
    ["founded = DATE('2020-01-03')", 90],
    ["name = ''' OR 1=1 --'", 0],
    ['S_INTERSECTS(geometry, BBOX(100, 30, 100.1, 30.1))', 4],
    ['S_INTERSECTS(geometry, POLYGON((100 30, 100.1 30, 100 30.1, 100 30)))', 3],
    ['NOT S_INTERSECTS(geometry, BBOX(100, 30, 100.1, 30.1))', COUNT - 4],
  ])('CQL2 Text: %s', async (filter, count) => {
    expect((await items({ filter, limit: '10000' })).numberReturned).toBe(count)
  })

  test('CQL2 JSON has the same result', async () => {
    const filter = JSON.stringify({
      op: 'and',
      args: [
        { op: 'between', args: [{ property: 'population' }, 5, 9] },
        { op: 'like', args: [{ property: 'name' }, 'town %'] },
        { op: 's_intersects', args: [{ property: 'geometry' }, { bbox: [100.55, 30, 101, 31] }] },
      ],
    })
    expect(await ids({ filter, 'filter-lang': 'cql2-json' })).toEqual(['p-6', 'p-7', 'p-8', 'p-9'])
  })

  test('every queryable is a parameter', async () => {
    expect(await ids({ name: 'town 5' })).toEqual(['p-5'])
    expect(await ids({ population: '5', capital: 'false' })).toEqual(['p-5'])
    expect(await ids({ population: '5', capital: 'true' })).toEqual([])
  })

  test('properties and sortby select and sort', async () => {
    const { features } = await items({ properties: 'name', sortby: '-population', limit: '2' })
    expect(features.map(({ properties }) => properties)).toEqual([{ name: 'town 2499' }, { name: 'town 2498' }])
  })
})

describe('formats', () => {
  test('CSV is selected by f and by Accept, and has a link to the next page', async () => {
    for (const [path, accept] of [
      ['&f=csv', '*/*'],
      ['', 'text/csv'],
    ] as const) {
      const answer = await ask(`${POINTS}/items?limit=2${path}`, { Accept: accept })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
      expect(answer.headers.get('link')).toMatch(/cursor=.*>; rel="next"/)
      expect((await answer.text()).split('\r\n').slice(0, 2)).toEqual([
        'id,name,population,capital,founded,note,WKT',
        'p-0,town 0,0,true,2020-01-01,,POINT (100 30)',
      ])
    }
  })

  test('GDAL reads FlatGeobuf, and the collection by its own driver with a token in the URL', async () => {
    const file = join(gateway().home, 'items.fgb')
    const answer = await ask(`${POINTS}/items?limit=10000&f=fgb`)
    await writeFile(file, Buffer.from(await answer.arrayBuffer()))
    const info = async (...args: string[]) => (await execute('ogrinfo', ['-ro', '-al', '-so', ...args])).stdout
    expect(await info(file)).toContain(`Feature Count: ${COUNT}`)
    const remote = await info(`OAPIF:${gateway().url}/ogc/collections/points?token=${token}`)
    expect(remote).toContain(`Feature Count: ${COUNT}`)
    expect(remote).toContain('population: Integer')
  })

  test.each([
    ['points.gpkg', COUNT],
    ['points.fgb', COUNT],
    ['points.zip', COUNT],
    ['points.csv', COUNT],
    ['area.geojson', 1],
    ['points.geojson?crs=EPSG:3857', COUNT],
  ])('%s is a download that GDAL reads, with a tag and ranges', async (path, count) => {
    const answer = await ask(`/vectors/${path}`)
    const body = Buffer.from(await answer.arrayBuffer())
    expect([answer.status, body.subarray(0, answer.status === 200 ? 0 : 300).toString()]).toEqual([200, ''])
    const file = join(gateway().home, path.replace(/\?.*/, ''))
    await writeFile(file, body)
    const { stdout } = await execute('ogrinfo', ['-ro', '-al', '-so', file.endsWith('.zip') ? `/vsizip/${file}` : file])
    expect(stdout).toContain(`Feature Count: ${count}`)
    const range = await ask(`/vectors/${path}`, { Range: 'bytes=0-9' })
    expect([range.status, Buffer.from(await range.arrayBuffer())]).toEqual([206, body.subarray(0, 10)])
    const again = await ask(`/vectors/${path}`, { 'If-None-Match': answer.headers.get('etag') ?? '' })
    expect(again.status).toBe(304)
  })

  test.each([
    ['two', { first: '1', 'second layer': '1' }],
    // The feature without a geometry is in the first one.
    ['mixed', { mixed_points: '2', mixed_multipoints: '1', mixed_lines: '1', mixed_polygons: '1' }],
  ])('%s.zip has a shapefile for each layer and each kind of geometry', async (code, counts) => {
    const answer = await ask(`/vectors/${code}.zip`)
    const body = Buffer.from(await answer.arrayBuffer())
    expect([answer.status, body.subarray(0, answer.status === 200 ? 0 : 300).toString()]).toEqual([200, ''])
    const file = join(gateway().home, `${code}.zip`)
    await writeFile(file, body)
    const { stdout } = await execute('ogrinfo', ['-ro', '-al', '-so', `/vsizip/${file}`])
    const layers = stdout.matchAll(/^Layer name: (.*)$[\s\S]*?^Feature Count: (.*)$/gm)
    expect(Object.fromEntries(Array.from(layers, ([, name, count]) => [name, count]))).toEqual(counts)
  })

  test('the stored format is sent unchanged', async () => {
    const [download, file] = [await ask('/vectors/points/download'), await ask('/vectors/points.geojson')]
    expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.from(await download.arrayBuffer()))).toBe(true)
  })
})

test.each([
  `${POINTS}/items/p-1%00`,
  `${POINTS}/items?name=x%00y`,
  `${POINTS}/items?filter-lang=cql2-json&filter=${encodeURIComponent('{"op":"=","args":[{"property":"name"},"x\\u0000y"]}')}`,
])('%s is invalid, because it holds a NUL character', async (path) => {
  const answer = await ask(path)
  expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringContaining('NUL character') }])
})

test('a page of features is not stored by caches, like all JSON of the read interface', async () => {
  expect((await ask(`${POINTS}/items`)).headers.get('cache-control')).toBe('no-store')
})

describe('access', () => {
  test.each(['items', 'items/p-1', 'queryables', 'schema', ''])('/%s is refused like the download', async (room) => {
    const path = `${POINTS}${room === '' ? '' : '/'}${room}`
    expect((await fetch(gateway().url + path)).status).toBe(401)
    expect((await fetch(gateway().url + path, { headers: { 'X-Access-Token': few } })).status).toBe(403)
    // Grants are checked before parameters.
    expect((await fetch(`${gateway().url}${path}?x=1`, { headers: { 'X-Access-Token': few } })).status).toBe(403)
  })

  test('a list contains only collections that the token may read', async () => {
    const answer = await fetch(`${gateway().url}/ogc/collections`, { headers: { 'X-Access-Token': few } })
    const { collections } = (await answer.json()) as { collections: { id: string }[] }
    expect(collections.map(({ id }) => id)).toEqual(['area'])
  })

  test('a token in the query appears in every URL of the response', async () => {
    const answer = await fetch(`${gateway().url}${POINTS}/items?limit=1&token=${token}`)
    const { links } = (await answer.json()) as Features
    expect(links.length).toBeGreaterThan(3)
    for (const { href } of links) expect(new URL(href).searchParams.get('token')).toBe(token)
  })

  test('a token with bounds reads the features that intersect them, but no file', async () => {
    const { token: local } = await gateway().issueToken({ vector_codes: ['*'], bounds: [100, 30, 100.1, 30.1] })
    const read = (path: string) => fetch(gateway().url + path, { headers: { 'X-Access-Token': local } })
    const within = async (query: string) =>
      ((await (await read(`${POINTS}/items?${query}`)).json()) as Features).features.map(({ id }) => id)
    expect(await within('')).toEqual(['p-0', 'p-1', 'p-50', 'p-51'])
    expect(await within('population=50')).toEqual(['p-50'])
    expect(await within('bbox=-180,-90,180,90&limit=2&offset=1')).toEqual(['p-1', 'p-50'])
    expect(await within('population=7')).toEqual([])
    const statuses = ['items/p-50', 'items/p-7', 'items/nobody'].map(
      async (room) => (await read(`${POINTS}/${room}`)).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 403, 404])
    expect(await (await read(POINTS)).json()).toMatchObject({ extent: { spatial: { bbox: [[100, 30, 100.1, 30.1]] } } })
    const { collections } = (await (await read('/ogc/collections')).json()) as { collections: { id: string }[] }
    expect(collections.map(({ id }) => id)).toContain('points')
    expect(collections.map(({ id }) => id)).not.toContain('area')
    expect((await read('/ogc/collections/area/items')).status).toBe(403)
    for (const file of ['points.csv', 'points/download']) expect((await read(`/vectors/${file}`)).status).toBe(403)
  })

  test('a disabled token is refused, and a withdrawn vector is gone', async () => {
    const { token: short, id } = await gateway().issueToken({ vector_codes: ['area'] })
    const asked = () => fetch(`${gateway().url}/ogc/collections/area/items`, { headers: { 'X-Access-Token': short } })
    const first = await asked()
    await first.arrayBuffer()
    expect(first.status).toBe(200)
    await gateway().admin.expect(`/tokens/${id}/disable`, { method: 'POST' })
    expect((await asked()).status).toBe(401)
  })
})

test.each([
  ['a page', '?limit=200', 'gzip'],
  ['all features', `?limit=${COUNT}`, 'gzip'],
  ['CSV', '?f=csv&limit=200', 'gzip'],
  ['FlatGeobuf, which is not text', '?f=fgb', null],
])('%s is compressed for clients that accept it', async (_, query, encoding) => {
  const read = async (accepted: string) => {
    const answer = await ask(`${POINTS}/items${query}`, { 'Accept-Encoding': accepted })
    const text = (await answer.text()).replace(/"timeStamp":"[^"]*"/, '')
    return { text, encoding: answer.headers.get('content-encoding'), vary: answer.headers.get('vary') }
  }
  const [plain, packed] = [await read('identity'), await read('gzip')]
  expect([plain.encoding, packed.encoding, packed.vary]).toEqual([null, encoding, 'Accept, Accept-Encoding'])
  expect(packed.text).toBe(plain.text)
})

test('a vector that cannot be read says why it has no features, and stays unchanged', async () => {
  const answer = await ask('/ogc/collections/broken/items')
  if (answer.status !== 404) expect(await answer.text()).toBe('')
  expect((await ask('/ogc/collections/nothing/items')).status).toBe(404)
})

test('a cursor of replaced content returns 410', async () => {
  const page = await items({ limit: '1' })
  const root = join(gateway().home, 'vectors')
  const feature = {
    type: 'Feature',
    id: 'new',
    properties: { name: 'x' },
    geometry: { type: 'Point', coordinates: [1, 2] },
  }
  await writeFile(join(root, 'points.geojson'), JSON.stringify({ type: 'FeatureCollection', features: [feature] }))
  await gateway().admin.scanSource('vectors', 'vector', root)
  const answer = await fetch(nextOf(page) ?? '', { headers: { 'X-Access-Token': token } })
  expect([answer.status, await answer.json()]).toEqual([410, { error: expect.stringContaining('replaced') }])
  expect((await items()).features.map(({ id }) => id)).toEqual(['new'])
})
