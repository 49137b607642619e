import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { ADDRESSES, type AddressForm, type AddressProtocol } from '@gateway/contracts/addresses.js'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { signatureQuery, signResource, signStyle } from '@gateway/core/access/signed-url.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'
import { PROTOCOLS, routeOf } from './protocols.js'

/** The bounds of everything in the catalog, and an area in it and one elsewhere. */
const PLACE: Bounds = [0, 0, 20, 20]
const INSIDE: Bounds = [5, 5, 10, 10]
const ELSEWHERE: Bounds = [-120, -60, -80, -20]

/** Values that are put in place of each part of a form. Numbers of tiles: the whole world, a tile at the place, and one far from it. */
const TILES = ['0/0/0', '4/8/7', '4/1/1']
const CODES = ['world', 'streets', 'roads', 'both', 'far', 'day', 'missing']
const VALUES: Readonly<Record<string, readonly string[]>> = {
  other: ['roads', 'both', 'missing', 'far,both'],
  styleId: ['day', 'missing'],
  version: ['v1', 'current', 'v9'],
  ext: ['png', 'pbf'],
  file: ['data/points.geojson', 'nothing.png'],
  fontstack: ['Noto%20Sans%20Regular'],
  range: ['0-255'],
  view: ['1,1,5', '0,0,20,20'],
  size: ['40x30'],
  relative_path: ['roads.geojson', 'missing.geojson'],
  set: ['w', 'c'],
  id: ['1'],
  tileMatrixSetId: ['WebMercatorQuad'],
  width: ['2'],
  height: ['2'],
}
const PLACES: readonly (readonly [names: readonly string[], values: readonly string[]])[] = [
  [['z', 'x', 'y'], TILES],
  [['tileMatrix', 'tileCol', 'tileRow'], TILES],
  [['level', 'column', 'row'], TILES],
]
const KVP = (code: string, [z, x, y]: readonly string[]) =>
  `SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=${code}&STYLE=default&TILEMATRIXSET=WebMercatorQuad&TILEMATRIX=${z}&TILEROW=${y}&TILECOL=${x}&FORMAT=image/png`
const VIEW = 'VERSION=1.3.0&STYLES=&CRS=EPSG:4326&BBOX=0,0,1,1&WIDTH=9&HEIGHT=9'
const MAP = (codes: string) => `REQUEST=GetMap&LAYERS=${codes}&${VIEW}&FORMAT=image/png`
const INFO = (code: string) => `REQUEST=GetFeatureInfo&LAYERS=img&QUERY_LAYERS=${code}&${VIEW}&I=1&J=1`
/** Queries that belong to a form. */
const QUERIES: Partial<Record<AddressProtocol, readonly string[]>> = {
  wmts: [
    'SERVICE=WMTS&REQUEST=GetCapabilities',
    'SERVICE=WMTS&REQUEST=Nothing',
    ...CODES.flatMap((code) => TILES.map((tile) => KVP(code, tile.split('/')))),
  ],
  wms: [
    'SERVICE=WMS&REQUEST=GetCapabilities',
    'REQUEST=Nothing',
    ...CODES.map(MAP),
    ...CODES.map(INFO),
    MAP('img,nothing'),
  ],
  tianditu: ['SERVICE=WMTS&REQUEST=GetCapabilities', ...TILES.map((tile) => KVP('img', tile.split('/')))],
  tms: ['', 'tile=/4/8/8.png', 'tile=/4/1/1.png'],
}

/**
 * Returns addresses of a form: each code at each place, and the other parts in turn. Throws for a part without values, so that a new form is not
 * forgotten.
 */
function addressesOf(form: string): string[] {
  const names = [...form.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const place = PLACES.find(([parts]) => names.includes(parts[0] as string))
  const codes = names.includes('code') ? CODES : ['']
  const bases = codes.flatMap((code) =>
    (place?.[1] ?? ['']).map((tile) => {
      const numbers = tile.split('/')
      const placed = (place?.[0] ?? []).reduce((text, part, i) => text.replace(`{${part}}`, numbers[i] as string), form)
      return placed.replace('{code}', code)
    }),
  )
  const others = names
    .filter((name) => name !== 'code' && !place?.[0].includes(name))
    .map((name) => [name, VALUES[name]] as const)
  const count = Math.max(bases.length, ...others.map(([, values]) => values?.length ?? 0))
  return Array.from({ length: count }, (_, i) =>
    others.reduce(
      (text, [name, values]) => {
        if (values === undefined) throw new Error(`this test has no values for {${name}}`)
        // Shifted in each round, so that a value does not always meet the same place.
        return text.replace(`{${name}}`, values[(i + Math.floor(i / 3)) % values.length] as string)
      },
      bases[i % bases.length] as string,
    ),
  )
}

const FORMS = Object.entries(ADDRESSES).flatMap(([protocol, forms]) =>
  (forms as readonly AddressForm[]).map(({ form }) => [protocol as AddressProtocol, form] as const),
)

const SECRET = randomBytes(32)
const THEN = new Date('2026-01-01T00:00:00Z')
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-decisions-'))
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
let running: RunningEdge
let credentials: Record<string, { readonly query?: string; readonly token?: string }>

beforeAll(async () => {
  const version = (more = {}) => storedVersion('v1', { path: path.join(home, 'none'), bounds: PLACE, ...more })
  const pbf = { format: 'pbf', extension: 'pbf', vectorLayers: [] } as const
  const basemap = (code: string, more = {}) => storedBasemap(code, [version(more)], { sourcePath: home })
  const build = { minZoom: 0, maxZoom: 5, bounds: PLACE, vectorLayers: [], folder: home, builtAt: 'then' }
  const vector = (code: string, bounds: Bounds = PLACE) => {
    const stored = storedVector(code, {
      path: path.join(home, 'none.geojson'),
      sourcePath: home,
      facts: { bounds } as never,
    })
    return { ...stored, tiles: { ...stored.tiles, build: { ...build, bounds } as never, buildRevision: 1 } }
  }
  fs.mkdirSync(path.join(home, 'data'))
  fs.writeFileSync(path.join(home, 'data/points.geojson'), '{}')
  const style = (code: string, source: string): StoredStyle => ({
    ...{ code, name: code, sourceCode: 'styles', sourcePath: home, sourceEnabled: true, path: home },
    document: JSON.stringify({ version: 8, sources: {}, layers: [] }),
    dependencies: {
      sources: [
        { name: 'one', kind: 'basemap', code: source, version: null },
        { name: 'two', kind: 'vector', code: 'roads', version: null },
      ],
      ...{ fonts: [], icons: [], sprites: [], files: [], hosts: [] },
    },
    assets: {
      sprites: [],
      files: [{ name: 'data/points.geojson', path: path.join(home, 'data/points.geojson') }] as never,
    },
    ...{ fingerprint: 'f', revision: 1, available: true, withdrawn: false, createdAt: THEN, updatedAt: THEN },
  })
  const catalog = nextCatalog(
    EMPTY_CATALOG,
    {
      codes: null,
      rows: [basemap('world'), basemap('streets', pbf), basemap('both'), basemap('far', { bounds: ELSEWHERE })],
    },
    { codes: null, rows: [vector('roads'), vector('both', ELSEWHERE)] },
    { styles: { codes: null, rows: [style('day', 'world'), style('night', 'far')] }, fonts: [] },
  )
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane: 'http://[::1]:1' })
  running.edge.signed.setKeys([{ secret: SECRET, expiresAt: null }])
  const token = (more: object) => {
    const made = createToken()
    running.storedTokens.set(tokenDigest(made).toString('hex'), { ...READER, id: made, ...more })
    return { token: made }
  }
  const within = (area: Bounds, more = {}) =>
    token({ limits: { origins: new Set<string>(), networks: [], rate: null, area }, ...more })
  const some = { basemaps: new Set(['far']), vectors: new Set(['missing']) }
  const signed = (code: string, bounds: Bounds | null = null) => ({
    query: signatureQuery(signResource(SECRET, { code, version: null, bounds } as never, 4_000_000_000)),
  })
  credentials = {
    none: {},
    'an unknown token': { token: createToken() },
    'a token with the scope slice': token({ scopes: new Set(['slice']) }),
    'a token without the grants': token(some),
    'a token with the grants': token({}),
    'a token with some grants': token({ basemaps: new Set(['both']), vectors: new Set(['roads']) }),
    'a token within the area': within(INSIDE),
    'a token with bounds elsewhere': within(ELSEWHERE),
    'a token with bounds and some grants': within(INSIDE, { basemaps: new Set(), vectors: new Set(['both', 'roads']) }),
    'the signature of a basemap': signed('world'),
    'the signature of another basemap': signed('far'),
    'a signature with bounds': signed('world', INSIDE),
    'a signature with bounds elsewhere': signed('world', ELSEWHERE),
    'the signature of a style': { query: signatureQuery(signStyle(SECRET, 'day', 4_000_000_000)) },
    'the signature of another style': { query: signatureQuery(signStyle(SECRET, 'night', 4_000_000_000)) },
  }
})
afterAll(async () => {
  agent.destroy()
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

function statusOf(address: string, headers: http.OutgoingHttpHeaders, method: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(running.url + address, { headers, method, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', reject).end()
  })
}

/** The edge also refuses by other reasons, which a proxy passes on from the edge. */
function decisionOf(status: number): 'in' | 401 | 403 {
  return status === 401 || status === 403 ? status : 'in'
}

/** Returns the decisions of the edge and of forward-auth. */
async function decisions(address: string, query: string, who: string, method: string) {
  const { token, query: signature } = credentials[who] as { token?: string; query?: string }
  const whole = [query, signature].filter((part) => part !== undefined && part !== '').join('&')
  const target = whole === '' ? address : `${address}?${whole}`
  const headers = token === undefined ? {} : { 'x-access-token': token }
  // nginx asks in one header and Traefik in the other one.
  const header = method === 'GET' ? 'X-Original-URI' : 'X-Forwarded-Uri'
  const [edge, proxy] = await Promise.all([
    statusOf(target, headers, method),
    statusOf('/api/v1/forward-auth', { ...headers, [header]: target }, method),
  ])
  return { target, who, method, edge: decisionOf(edge), proxy: decisionOf(proxy) }
}

test('every form is that of a route of its protocol, and every protocol has a form', () => {
  for (const [protocol, form] of FORMS)
    for (const address of addressesOf(form)) {
      const route = routeOf(address)
      expect([address, route !== undefined && PROTOCOLS[protocol].includes(route)]).toEqual([address, true])
    }
  expect(Object.keys(PROTOCOLS)).toEqual(Object.keys(ADDRESSES))
  // Those that the control plane answers are compared by test/conformance/token-limits.test.ts.
  const others = FORMS.filter(([protocol]) => PROTOCOLS[protocol].some(({ handler }) => handler === null))
  for (const [, form] of others) expect(form).toMatch(/^\/api\/v1\/catalog\//)
})

test.each(FORMS.filter(([protocol]) => PROTOCOLS[protocol].every(({ handler }) => handler !== null)))(
  '%s: forward-auth decides about %s as the edge does',
  async (protocol, form) => {
    const differences: unknown[] = []
    let compared = 0
    for (const [i, address] of addressesOf(form).entries())
      for (const query of QUERIES[protocol] ?? ['']) {
        const asked = Object.keys(credentials).flatMap((who, n) =>
          // Each credential asks for one address by GET and for the next one by HEAD.
          (i < 2 ? ['GET', 'HEAD'] : [(i + n) % 2 === 0 ? 'GET' : 'HEAD']).map((method) =>
            decisions(address, query, who, method),
          ),
        )
        const found = await Promise.all(asked)
        compared += found.length
        differences.push(...found.filter(({ edge, proxy }) => edge !== proxy))
      }
    expect(differences.slice(0, 10)).toEqual([])
    expect(compared).toBeGreaterThanOrEqual(30)
  },
  120_000,
)
