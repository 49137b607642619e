import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

/*
 * The abstract test suites of OGC API – Features: part 1 (OGC 17-069r4, annex A: core, geojson, oas30), part 2 (OGC 18-058r1) and part 3
 * (OGC 19-079r2: queryables, queryables-query-parameters, filter, features-filter). Each test has the name of its requirement.
 * The tests of what the service promises beyond them are in features.test.ts.
 */

const execute = promisify(execFile)
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const EPSG = 'http://www.opengis.net/def/crs/EPSG/0/'
const REL = 'http://www.opengis.net/def/rel/ogc/1.0/'
const API_30 = 'application/vnd.oai.openapi+json;version=3.0'
const COUNT = 250
/** Those without a place, and without a time. */
const NOWHERE = 'p-240'
const TIMELESS = 'p-245'

interface Feature {
  type: string
  id: string | number
  properties: Record<string, unknown>
  geometry: { type: string; coordinates: number[] } | null
  links?: Link[]
}
interface Link {
  rel: string
  href: string
  type?: string
}
interface Page {
  type: string
  features: Feature[]
  links: Link[]
  timeStamp: string
  numberReturned: number
  numberMatched?: number
}
interface Collection {
  id: string
  title: string
  itemType: string
  extent: { spatial: { bbox: number[][]; crs: string } }
  crs: string[]
  storageCrs: string
  links: Link[]
}
interface Parameter {
  name: string
  in: string
  required: boolean
  style?: string
  explode?: boolean
  schema: Record<string, unknown>
}
interface Definition {
  openapi: string
  security: object[]
  components: { securitySchemes: Record<string, object> }
  paths: Record<
    string,
    {
      get: {
        parameters: Parameter[]
        responses: Record<string, { content: Record<string, unknown> }>
      }
    }
  >
}

const place = (i: number) => [-170 + (i % 25) * 14, -60 + Math.floor(i / 25) * 14]
const day = (i: number) => `2021-03-${String(1 + (i % 20)).padStart(2, '0')}`

const feature = (i: number) => ({
  type: 'Feature',
  id: `p-${i}`,
  properties: {
    name: `town ${i}`,
    rank: i,
    open: i % 2 === 0,
    founded: `p-${i}` === TIMELESS ? null : day(i),
  },
  geometry: `p-${i}` === NOWHERE ? null : { type: 'Point', coordinates: place(i) },
})
const ring = [
  [113, 30],
  [114, 30],
  [114, 31],
  [113, 31],
  [113, 30],
]
const collectionOf = (features: object[]) => JSON.stringify({ type: 'FeatureCollection', features })

let token = ''
const gateway = useGateway({}, async (started) => {
  const root = join(started.home, 'vectors')
  await mkdir(root, { recursive: true })
  await writeFile(join(root, 'points.geojson'), collectionOf(Array.from({ length: COUNT }, (_, i) => feature(i))))
  const area = {
    type: 'Feature',
    properties: { name: 'a' },
    geometry: { type: 'Polygon', coordinates: [ring] },
  }
  const source = join(started.home, 'area.geojson')
  await writeFile(source, collectionOf([area]))
  await execute('ogr2ogr', ['-t_srs', 'EPSG:4547', join(root, 'area.gpkg'), source])
  await started.admin.scanSource('vectors', 'vector', root)
  token = (await started.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })).token
})

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(path.startsWith('http') ? path : gateway().url + path, {
    method,
    headers: { 'X-Access-Token': token, ...headers },
  })
async function json<T>(path: string): Promise<T> {
  const answer = await ask(path)
  const text = await answer.text()
  expect([path, answer.status, text.slice(0, 300)]).toEqual([path, 200, expect.any(String)])
  return JSON.parse(text) as T
}
const statusOf = async (path: string) => {
  const answer = await ask(path)
  await answer.arrayBuffer()
  return answer.status
}

const POINTS = '/ogc/collections/points'
const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()
const page = (parameters: Record<string, string> = {}, path = POINTS) =>
  json<Page>(`${path}/items?${query({ limit: '10000', ...parameters })}`)
const ids = async (parameters: Record<string, string>) => (await page(parameters)).features.map(({ id }) => String(id))
/** Those that a condition selects, in the order of the file. */
const chosen = (condition: (i: number) => boolean) =>
  Array.from({ length: COUNT }, (_, i) => i)
    .filter(condition)
    .map((i) => `p-${i}`)
const collections = async () => (await json<{ collections: Collection[] }>('/ogc/collections')).collections
const definition = () => json<Definition>('/ogc/api')
const parametersOf = async (path: string) => (await definition()).paths[path]?.get.parameters ?? []
const itemsParameter = async (name: string) =>
  (await parametersOf('/collections/{collectionId}/items')).find((one) => one.name === name)
const typed = (links: Link[], rels: string[]) =>
  links.filter(({ rel }) => rels.includes(rel)).every(({ type }) => type !== undefined && type !== '')
const relsOf = (links: Link[]) => links.map(({ rel }) => rel)
const within = ([west = 0, south = 0, east = 0, north = 0]: number[]) =>
  chosen((i) => {
    const [x = 0, y = 0] = place(i)
    return `p-${i}` === NOWHERE || (x >= west && x <= east && y >= south && y <= north)
  })

describe('part 1, core: the service', () => {
  test('/req/core/root-op, /req/core/root-success: the landing page links the definition, the conformance and the data', async () => {
    const { links } = await json<{ links: Link[] }>('/ogc')
    expect(relsOf(links)).toEqual(expect.arrayContaining(['service-desc', 'service-doc', 'conformance', 'data']))
    for (const { rel, href } of links.filter((link) => ['conformance', 'data'].includes(link.rel)))
      expect([rel, await statusOf(href)]).toEqual([rel, 200])
  })

  test('/req/core/api-definition-op, /req/core/api-definition-success: each definition is sent as the type that its link names', async () => {
    const { links } = await json<{ links: Link[] }>('/ogc')
    const definitions = links.filter(({ rel }) => rel === 'service-desc' || rel === 'service-doc')
    expect(definitions.map(({ type }) => type)).toEqual(expect.arrayContaining([API_30, 'text/html']))
    for (const { href, type = '' } of definitions) {
      const answer = await ask(href, { Accept: type })
      await answer.arrayBuffer()
      const sent = answer.headers.get('content-type')?.replaceAll(/[" ]/g, '') ?? ''
      expect([href, answer.status, sent.startsWith(type)]).toEqual([href, 200, true])
    }
  })

  test('/req/core/conformance-op, /req/core/conformance-success: the declaration lists the classes that are tested here', async () => {
    const { conformsTo } = await json<{ conformsTo: string[] }>('/ogc/conformance')
    const features = (part: number, name: string) =>
      `http://www.opengis.net/spec/ogcapi-features-${part}/1.0/conf/${name}`
    expect(conformsTo).toEqual(
      expect.arrayContaining([
        ...['core', 'geojson', 'oas30'].map((name) => features(1, name)),
        features(2, 'crs'),
        ...['queryables', 'queryables-query-parameters', 'filter', 'features-filter'].map((name) => features(3, name)),
      ]),
    )
    expect(new Set(conformsTo).size).toBe(conformsTo.length)
  })

  test('/req/core/http: methods that are not supported return 405, and HEAD has the head of GET', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await ask(`${POINTS}/items`, {}, method)
      await answer.arrayBuffer()
      expect([method, answer.status]).toEqual([method, 405])
    }
    const [get, head] = [await ask(`${POINTS}/items`), await ask(`${POINTS}/items`, {}, 'HEAD')]
    await get.arrayBuffer()
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      get.headers.get('content-type'),
      '',
    ])
  })

  test.each(['', '/conformance', '/api', '/collections', '/collections/points', '/collections/points/items'])(
    '/req/core/query-param-unknown: /ogc%s refuses a parameter that the definition does not have',
    async (path) => {
      expect(await statusOf(`/ogc${path}?abstract-test=1`)).toBe(400)
    },
  )

  test.each([
    ...['limit=0', 'limit=-1', 'limit=1.5', 'limit=ten', 'limit='],
    ...['bbox=1,2,3', 'bbox=1,2,3,4,5', 'bbox=1,2,3,x', 'bbox=0x1,0,2,2', 'bbox=', 'bbox=0,50,1,40'],
    ...['datetime=2021-13-01', 'datetime=yesterday', 'datetime=../..', 'datetime=2021-03-02/2021-03-01/..'],
    ...['f=gml', 'offset=-1', 'rank=first', 'open=perhaps', 'founded=march'],
  ])('/req/core/query-param-invalid: items?%s returns 400', async (parameters) => {
    expect(await statusOf(`${POINTS}/items?${parameters}`)).toBe(400)
  })

  test('/req/core/crs84: geometries are longitude and latitude unless another system is asked for', async () => {
    const { features } = await page({ limit: '3' })
    expect(features.map(({ geometry }) => geometry?.coordinates)).toEqual([place(0), place(1), place(2)])
  })
})

describe('part 1, core: collections', () => {
  test('/req/core/fc-md-op, /req/core/fc-md-success, /req/core/fc-md-items: the list has an item for each collection', async () => {
    expect((await collections()).map(({ id }) => id)).toEqual(['area', 'points'])
  })

  test('/req/core/fc-md-links: the list has a typed link to itself', async () => {
    const { links } = await json<{ links: Link[] }>('/ogc/collections')
    expect(relsOf(links)).toContain('self')
    expect(typed(links, ['self', 'alternate'])).toBe(true)
  })

  test('/req/core/fc-md-items-links: a collection has a typed link to its items for each encoding', async () => {
    for (const { links } of await collections()) {
      const items = links.filter(({ rel }) => rel === 'items')
      expect(items.map(({ type }) => type)).toEqual([
        'application/geo+json',
        'text/csv; charset=utf-8',
        'application/flatgeobuf',
      ])
      for (const { href, type } of items) {
        const answer = await ask(href)
        await answer.arrayBuffer()
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
      }
    }
  })

  test('/req/core/fc-md-extent, /req/core/fc-md-extent-multi: the extent holds every geometry', async () => {
    for (const { id, extent } of await collections()) {
      const [west = 0, south = 0, east = 0, north = 0] = extent.spatial.bbox[0] ?? []
      expect(extent.spatial.crs).toBe(CRS84)
      const { features } = await page({}, `/ogc/collections/${id}`)
      const positions = features.flatMap(({ geometry }) => (geometry?.coordinates ?? []).flat(2))
      for (let i = 0; i < positions.length; i += 2) {
        expect(positions[i]).toBeGreaterThanOrEqual(west - 1e-9)
        expect(positions[i]).toBeLessThanOrEqual(east + 1e-9)
        expect(positions[i + 1]).toBeGreaterThanOrEqual(south - 1e-9)
        expect(positions[i + 1]).toBeLessThanOrEqual(north + 1e-9)
      }
    }
  })

  test('/req/core/sfc-md-op, /req/core/sfc-md-success: each collection has its own document, equal to its item in the list', async () => {
    for (const collection of await collections())
      expect(await json(`/ogc/collections/${collection.id}`)).toEqual(collection)
  })
})

describe('part 1, core: features', () => {
  test('/req/core/fc-op, /req/core/fc-response: the items of each collection are there', async () => {
    for (const { id } of await collections()) expect(await statusOf(`/ogc/collections/${id}/items`)).toBe(200)
  })

  test('/req/core/fc-limit-definition: limit is a whole number from 1 to 10,000, and 100 by default', async () => {
    const found = await itemsParameter('limit')
    expect(found).toMatchObject({ in: 'query', required: false })
    expect(found?.schema).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 100,
    })
  })

  test('/req/core/fc-limit-response-1: a page has no more features than limit, and a larger limit than the largest is no error', async () => {
    expect((await json<Page>(`${POINTS}/items`)).features).toHaveLength(100)
    expect((await page({ limit: '7' })).features).toHaveLength(7)
    expect((await page({ limit: '10001' })).features).toHaveLength(COUNT)
  })

  test('/req/core/fc-bbox-definition: bbox is a list of four or six numbers in one value', async () => {
    expect(await itemsParameter('bbox')).toMatchObject({
      style: 'form',
      explode: false,
      schema: {
        type: 'array',
        oneOf: [
          { minItems: 4, maxItems: 4 },
          { minItems: 6, maxItems: 6 },
        ],
      },
    })
  })

  test('/req/core/fc-bbox-response: features that intersect the box are selected, and those without a geometry', async () => {
    for (const box of [
      [-180, -90, 180, 90],
      [-170, -60, -156, -46],
      [0, 0, 60, 60],
      [12, 10, 12, 10],
    ])
      expect(await ids({ bbox: box.join(',') })).toEqual(within(box))
    expect(await ids({ bbox: '-170,-60,-1000,-156,-46,1000' })).toEqual(within([-170, -60, -156, -46]))
    // Across the antimeridian.
    const both = new Set([...within([150, -90, 180, 90]), ...within([-180, -90, -150, 90])])
    expect(await ids({ bbox: '150,-90,-150,90' })).toEqual(chosen((i) => both.has(`p-${i}`)))
    for (const outside of ['-180,-91,180,90', '-180,-90,180,100'])
      expect(await statusOf(`${POINTS}/items?bbox=${outside}`)).toBe(400)
  })

  test('/req/core/fc-time-definition: datetime is one text', async () => {
    expect(await itemsParameter('datetime')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'string' },
    })
  })

  test.each([
    ['2021-03-05', (n: number) => n === 5],
    ['2021-03-05T12:00:00Z', (n: number) => n === 5],
    ['2021-03-05/2021-03-07', (n: number) => n >= 5 && n <= 7],
    ['2021-03-05T00:00:00Z/2021-03-07T00:00:00Z', (n: number) => n >= 5 && n <= 7],
    ['../2021-03-02', (n: number) => n <= 2],
    ['/2021-03-02', (n: number) => n <= 2],
    ['2021-03-19/..', (n: number) => n >= 19],
    ['2021-03-19/', (n: number) => n >= 19],
    ['1999-01-01', () => false],
  ])('/req/core/fc-time-response: %s selects what lies in it, and features without a time', async (datetime, isIn) => {
    expect(await ids({ datetime })).toEqual(chosen((i) => `p-${i}` === TIMELESS || isIn(1 + (i % 20))))
  })

  test('/req/core/fc-links, /req/core/fc-rel-type: a page has typed links to itself, to its other encodings and to the next page', async () => {
    const first = await page({ limit: '100' })
    expect(typed(first.links, ['self', 'alternate', 'next', 'prev'])).toBe(true)
    expect(first.links.filter(({ rel }) => rel === 'alternate').map(({ type }) => type)).toEqual([
      'text/csv; charset=utf-8',
      'application/flatgeobuf',
    ])
    const found: string[] = []
    for (let current: Page | null = first; current !== null; ) {
      expect(relsOf(current.links)).toContain('self')
      found.push(...current.features.map(({ id }) => String(id)))
      const next: Link | undefined = current.links.find(({ rel }) => rel === 'next')
      current = next === undefined ? null : await json<Page>(next.href)
    }
    expect(found).toEqual(chosen(() => true))
  })

  test('/req/core/fc-timeStamp: timeStamp is when the answer was made', async () => {
    const before = new Date().toISOString()
    const { timeStamp } = await page({ limit: '1' })
    expect(timeStamp >= before && timeStamp <= new Date().toISOString()).toBe(true)
  })

  test('/req/core/fc-numberMatched, /req/core/fc-numberReturned: both are true where they are present', async () => {
    expect(await page({ limit: '10' })).toMatchObject({
      numberMatched: COUNT,
      numberReturned: 10,
    })
    expect(await page({ bbox: '-170,-60,-156,-46' })).toMatchObject({
      numberMatched: 5,
      numberReturned: 5,
    })
    const part = await page({ bbox: '-170,-60,-156,-46', limit: '2' })
    expect(part.numberReturned).toBe(2)
    expect([undefined, 5]).toContain(part.numberMatched)
    expect((await page({ offset: '249' })).numberReturned).toBe(1)
  })

  test('/req/core/f-op, /req/core/f-success: every feature is at its id', async () => {
    for (const { id } of (await page({ limit: '20' })).features)
      expect(await statusOf(`${POINTS}/items/${id}`)).toBe(200)
    expect(await statusOf(`${POINTS}/items/${NOWHERE}`)).toBe(200)
    expect(await statusOf(`${POINTS}/items/p-999`)).toBe(404)
  })

  test('/req/core/f-links: a feature has typed links to itself and to its collection', async () => {
    const { links = [] } = await json<Feature>(`${POINTS}/items/p-3`)
    expect(relsOf(links)).toEqual(expect.arrayContaining(['self', 'collection']))
    expect(typed(links, ['self', 'alternate', 'collection'])).toBe(true)
    for (const { href } of links) expect(await statusOf(href)).toBe(200)
  })
})

describe('part 1, GeoJSON', () => {
  test('/req/geojson/definition: features are application/geo+json, and other documents application/json', async () => {
    const typeOf = async (path: string) => (await ask(path)).headers.get('content-type')
    for (const path of [`${POINTS}/items`, `${POINTS}/items/p-1`])
      expect(await typeOf(path)).toBe('application/geo+json')
    for (const path of ['/ogc', '/ogc/conformance', '/ogc/collections', POINTS])
      expect(await typeOf(path)).toBe('application/json')
  })

  test('/req/geojson/content: answers are GeoJSON, a feature has the id of its address, and links are members', async () => {
    const found = await page({ limit: '5' })
    expect(found.type).toBe('FeatureCollection')
    for (const one of found.features)
      expect(one).toEqual({
        type: 'Feature',
        id: expect.any(String),
        geometry: {
          type: 'Point',
          coordinates: [expect.any(Number), expect.any(Number)],
        },
        properties: expect.any(Object),
      })
    expect(await json(`${POINTS}/items/p-4`)).toMatchObject({
      type: 'Feature',
      id: 'p-4',
      links: expect.any(Array),
    })
    expect((await json<Feature>(`${POINTS}/items/${NOWHERE}`)).geometry).toBeNull()
  })
})

describe('part 1, OpenAPI 3.0', () => {
  test('/req/oas30/oas-definition-1: the landing page links the definition and its reading form', async () => {
    const { links } = await json<{ links: Link[] }>('/ogc')
    const typesOf = (wanted: string) => links.filter(({ rel }) => rel === wanted).map(({ type }) => type)
    expect(typesOf('service-desc')).toContain(API_30)
    expect(typesOf('service-doc')).toContain('text/html')
  })

  test('/req/oas30/oas-definition-2: the definition is a valid document of OpenAPI 3.0', async () => {
    const source = await (await ask('/ogc/api')).text()
    const config = await createConfig({
      rules: { struct: 'error', 'no-unresolved-refs': 'error' },
    })
    expect((await lintFromString({ source, config })).map(({ message }) => message)).toEqual([])
    expect(JSON.parse(source).openapi).toMatch(/^3\.0\.\d+$/)
  })

  test('/req/oas30/oas-impl: every path of the definition is there', async () => {
    for (const path of Object.keys((await definition()).paths)) {
      const real = path.replace('{collectionId}', 'points').replace('{featureId}', 'p-1')
      expect([path, await statusOf(`/ogc${real}`)]).toEqual([path, 200])
    }
  })

  test('/req/oas30/completeness, /req/oas30/exceptions-codes: the definition has every status that the service returns', async () => {
    for (const { get } of Object.values((await definition()).paths)) {
      const statuses = ['200', '400', '401', '403', '404', '410', '414', '429', '500', '503']
      expect(Object.keys(get.responses)).toEqual(expect.arrayContaining(statuses))
      for (const { content } of Object.values(get.responses)) expect(content).toBeDefined()
    }
  })

  test('/req/oas30/security: the definition names how a request carries its token', async () => {
    const { security, components } = await definition()
    expect(security).toEqual([{ bearer: [] }, { header: [] }, { query: [] }])
    expect(Object.keys(components.securitySchemes)).toEqual(['bearer', 'header', 'query'])
    const path = `${gateway().url}${POINTS}/items?limit=1`
    const answers = [
      await fetch(path, { headers: { Authorization: `Bearer ${token}` } }),
      await fetch(path, { headers: { 'X-Access-Token': token } }),
      await fetch(`${path}&token=${token}`),
      await fetch(path),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 401])
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  })
})

describe('part 2, coordinate reference systems', () => {
  const ofArea = (parameters: Record<string, string>) =>
    json<{ features: { geometry: { coordinates: number[][][] } }[] }>(
      `/ogc/collections/area/items?${query(parameters)}`,
    )

  test('/req/crs/crs-uri, /req/crs/fc-md-crs-list: each collection lists its systems by URIs, CRS84 first', async () => {
    for (const { crs } of await collections()) {
      expect(crs[0]).toBe(CRS84)
      for (const uri of crs)
        expect(uri).toMatch(/^http:\/\/www\.opengis\.net\/def\/crs\/(OGC\/1\.3\/CRS84|EPSG\/0\/\d+)$/)
    }
  })

  test('/req/crs/fc-md-crs-list-global: the systems of the list are those of every collection', async () => {
    const { crs } = await json<{ crs: string[] }>('/ogc/collections')
    for (const collection of await collections()) expect(collection.crs).toEqual(expect.arrayContaining(crs))
  })

  test('/req/crs/fc-md-storageCrs, /req/crs/fc-md-storageCrs-valid-value: the storage system is one of the list', async () => {
    const found = new Map((await collections()).map((one) => [one.id, one]))
    expect(found.get('area')?.storageCrs).toBe(`${EPSG}4547`)
    for (const { crs, storageCrs } of found.values()) expect(crs).toContain(storageCrs)
  })

  test('/req/crs/fc-bbox-crs-definition, /req/crs/fc-crs-definition: both parameters are URIs', async () => {
    for (const name of ['bbox-crs', 'crs'])
      expect(await itemsParameter(name)).toMatchObject({
        required: false,
        schema: { type: 'string', format: 'uri' },
      })
    const ofItem = await parametersOf('/collections/{collectionId}/items/{featureId}')
    expect(ofItem.find(({ name }) => name === 'crs')?.schema).toEqual({
      type: 'string',
      format: 'uri',
    })
  })

  test('/req/crs/fc-bbox-crs-valid-value, /req/crs/bbox-crs-exception: a listed system is taken, and another returns 400', async () => {
    for (const { id, crs } of await collections())
      for (const uri of crs)
        expect([uri, await statusOf(`/ogc/collections/${id}/items?bbox-crs=${uri}`)]).toEqual([uri, 200])
    for (const uri of [`${EPSG}9999`, 'urn:x', ''])
      expect(await statusOf(`${POINTS}/items?bbox=0,0,1,1&bbox-crs=${uri}`)).toBe(400)
  })

  test('/req/crs/fc-bbox-crs-action, /req/crs/fc-bbox-crs-default-value: bbox is in the system that is named, else in CRS84', async () => {
    const expected = within([0, 0, 60, 60])
    expect(await ids({ bbox: '0,0,60,60' })).toEqual(expected)
    expect(await ids({ bbox: '0,0,60,60', 'bbox-crs': CRS84 })).toEqual(expected)
    for (const code of ['4326', '4490'])
      expect(await ids({ bbox: '-60,-170,-46,-140', 'bbox-crs': EPSG + code })).toEqual(within([-170, -60, -140, -46]))
    expect(await ids({ bbox: '0,0,6679169,8399738', 'bbox-crs': `${EPSG}3857` })).toEqual(expected)
    const box = [3_320_000, 400_000, 3_330_000, 450_000].join(',')
    expect((await ofArea({ bbox: box, 'bbox-crs': `${EPSG}4547` })).features).toHaveLength(1)
  })

  test('/req/crs/fc-crs-valid-value, /req/crs/crs-exception: a listed system is taken, and another returns 400', async () => {
    for (const { id, crs } of await collections())
      for (const uri of crs)
        expect([uri, await statusOf(`/ogc/collections/${id}/items?crs=${uri}`)]).toEqual([uri, 200])
    for (const uri of [`${EPSG}9999`, 'urn:x', '']) {
      expect(await statusOf(`${POINTS}/items?crs=${uri}`)).toBe(400)
      expect(await statusOf(`${POINTS}/items/p-1?crs=${uri}`)).toBe(400)
    }
  })

  test.each([
    [CRS84, [-170, -60]],
    [`${EPSG}4326`, [-60, -170]],
    [`${EPSG}4490`, [-60, -170]],
    [`${EPSG}3857`, [-18924313.4349, -8399737.8898]],
  ])('/req/crs/fc-crs-action, /req/crs/ogc-crs-header, /req/crs/ogc-crs-header-value: %s', async (crs, position) => {
    for (const path of [`${POINTS}/items?limit=1&crs=${crs}`, `${POINTS}/items/p-0?crs=${crs}`]) {
      const answer = await ask(path)
      expect(answer.headers.get('content-crs')).toBe(`<${crs}>`)
      const body = (await answer.json()) as Page & Feature
      expect((body.features?.[0] ?? body).geometry?.coordinates).toEqual(position)
    }
  })

  test('/req/crs/fc-crs-default-value: without crs, answers are in CRS84 and say so', async () => {
    const answer = await ask('/ogc/collections/area/items')
    expect(answer.headers.get('content-crs')).toBe(`<${CRS84}>`)
    const { features } = (await answer.json()) as {
      features: { geometry: { coordinates: number[][][] } }[]
    }
    const [x = 0, y = 0] = features[0]?.geometry.coordinates[0]?.[0] ?? []
    expect([Math.abs(x - 113) < 1e-6, Math.abs(y - 30) < 1e-6]).toEqual([true, true])
  })

  test('/req/crs/geojson: GeoJSON in another system has the order of its axes', async () => {
    const { features } = await ofArea({ crs: `${EPSG}4547` })
    const [north = 0, east = 0] = features[0]?.geometry.coordinates[0]?.[0] ?? []
    expect([Math.round(north / 1000), Math.round(east / 1000)]).toEqual([3321, 404])
  })
})

describe('part 3, queryables', () => {
  const schemaOf = (code: string) => json<Record<string, unknown>>(`/ogc/collections/${code}/queryables`)

  test('/req/queryables/queryables-link, /req/features-filter/queryables-link: each collection links its queryables', async () => {
    for (const { links } of await collections()) {
      const link = links.find(({ rel }) => rel === `${REL}queryables`)
      expect(link?.type).toBe('application/schema+json')
      expect(await statusOf(link?.href ?? '')).toBe(200)
    }
  })

  test('/req/queryables/get-queryables-op, /req/features-filter/get-queryables-op: each collection has queryables', async () => {
    for (const { id } of await collections()) {
      const answer = await ask(`/ogc/collections/${id}/queryables`, {
        Accept: 'application/schema+json',
      })
      await answer.arrayBuffer()
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/schema+json'])
    }
  })

  test('/req/queryables/get-queryables-response: they are a JSON schema at its own address', async () => {
    for (const { id } of await collections()) {
      const schema = await schemaOf(id)
      expect(schema).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `${gateway().url}/ogc/collections/${id}/queryables`,
        type: 'object',
        additionalProperties: false,
      })
      expect(() => new Ajv2020({ strict: false, validateFormats: false }).compile(schema)).not.toThrow()
    }
    expect((await schemaOf('points')).properties).toEqual({
      geometry: { 'x-ogc-role': 'primary-geometry', format: 'geometry-point' },
      name: { title: 'name', type: 'string' },
      rank: { title: 'rank', type: 'integer' },
      open: { title: 'open', type: 'boolean' },
      founded: { title: 'founded', type: 'string', format: 'date' },
    })
  })

  test('/req/queryables/expression-construction: a property that is no queryable returns 400', async () => {
    expect(await statusOf(`${POINTS}/items?${query({ filter: 'nothing = 1' })}`)).toBe(400)
    for (const filter of [
      "name = 'town 1'",
      'rank = 1',
      'open = true',
      "founded = DATE('2021-03-01')",
      'geometry IS NULL',
    ])
      expect([filter, await statusOf(`${POINTS}/items?${query({ filter })}`)]).toEqual([filter, 200])
  })

  test('/req/queryables-query-parameters/parameters: each queryable is a parameter of its type', async () => {
    expect(await ids({ name: 'town 7' })).toEqual(['p-7'])
    expect(await ids({ rank: '7' })).toEqual(['p-7'])
    expect(await ids({ open: 'true' })).toEqual(chosen((i) => i % 2 === 0))
    expect(await ids({ founded: '2021-03-03' })).toEqual(chosen((i) => i % 20 === 2))
    expect(await ids({ rank: '7', open: 'true' })).toEqual([])
    expect(await itemsParameter('queryables')).toMatchObject({
      style: 'form',
      explode: true,
    })
  })
})

describe('part 3, filter', () => {
  test('/req/filter/filter-param, /req/features-filter/filter-param: items take a filter', async () => {
    expect(await itemsParameter('filter')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'string' },
    })
  })

  test('/req/filter/filter-lang-param, /req/features-filter/filter-lang-param: both encodings, and text by default', async () => {
    expect((await itemsParameter('filter-lang'))?.schema).toEqual({
      type: 'string',
      enum: ['cql2-text', 'cql2-json'],
      default: 'cql2-text',
    })
    const asJson = JSON.stringify({ op: '=', args: [{ property: 'rank' }, 3] })
    expect(await ids({ filter: 'rank = 3' })).toEqual(['p-3'])
    expect(await ids({ filter: 'rank = 3', 'filter-lang': 'cql2-text' })).toEqual(['p-3'])
    expect(await ids({ filter: asJson, 'filter-lang': 'cql2-json' })).toEqual(['p-3'])
  })

  test('/req/filter/filter-crs-param, /req/features-filter/filter-crs-param: geometries are in the system that is named', async () => {
    expect(await itemsParameter('filter-crs')).toMatchObject({
      required: false,
      schema: { type: 'string', format: 'uri' },
    })
    const filter = 'S_INTERSECTS(geometry, POINT(-60 -170))'
    expect(await ids({ filter, 'filter-crs': `${EPSG}4326` })).toEqual(['p-0'])
    expect(await statusOf(`${POINTS}/items?${query({ filter, 'filter-crs': `${EPSG}9999` })}`)).toBe(400)
  })

  test('/req/filter/filter-crs-wgs84: without filter-crs, geometries are in CRS84', async () => {
    expect(await ids({ filter: 'S_INTERSECTS(geometry, POINT(-170 -60))' })).toEqual(['p-0'])
  })

  test('/req/filter/mixing-expressions, /req/features-filter/response: all parameters together select', async () => {
    const box = [0, 0, 60, 60]
    const inBox = new Set(within(box))
    expect(
      await ids({
        filter: 'rank < 200',
        bbox: box.join(','),
        datetime: '2021-03-01/2021-03-10',
        open: 'true',
      }),
    ).toEqual(chosen((i) => i < 200 && inBox.has(`p-${i}`) && i % 20 < 10 && i % 2 === 0))
  })

  test.each([
    ['rank = 7', (i: number) => i === 7],
    ['NOT (rank > 5 AND rank <= 249)', (i: number) => i <= 5],
    ["founded IS NULL OR name LIKE 'town 1_'", (i: number) => `p-${i}` === TIMELESS || (i >= 10 && i < 20)],
    ["NOT founded = DATE('2021-03-01')", (i: number) => i % 20 !== 0 && `p-${i}` !== TIMELESS],
    ['TRUE', () => true],
    ['FALSE', () => false],
    ['geometry IS NULL', (i: number) => `p-${i}` === NOWHERE],
    ['S_INTERSECTS(geometry, BBOX(-180, -90, 180, 90))', (i: number) => `p-${i}` !== NOWHERE],
  ])('/req/filter/response: %s selects the features for which it is true', async (filter, isTrue) => {
    expect(await ids({ filter })).toEqual(chosen(isTrue))
  })

  test.each([
    ['rank >', 'cql2-text'],
    ['rank = 1', 'cql2-json'],
    ['rank = 1', 'sql'],
    ["rank = 'one'", 'cql2-text'],
    ['S_INTERSECTS(geometry, POLYGON((0 0, 1 1)))', 'cql2-text'],
    ['S_INTERSECTS(geometry, POLYGON((0 0, 1 1, 1 0, 2 2)))', 'cql2-text'],
    ['S_INTERSECTS(geometry, LINESTRING(0 0))', 'cql2-text'],
  ])('/req/features-filter/response: the filter %s as %s returns 400', async (filter, language) => {
    expect(await statusOf(`${POINTS}/items?${query({ filter, 'filter-lang': language })}`)).toBe(400)
  })
})
