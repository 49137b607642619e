import { expect, test } from 'vitest'
import { useMaps } from './maps.js'

const maps = useMaps()

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>
}

/** Values for path parameters: of an existing and of a missing object. */
const VALUES: readonly Readonly<Record<string, string>>[] = [
  {
    code: 'world',
    version: '2026-2',
    z: '0',
    x: '0',
    y: '0',
    ext: 'png',
    tileMatrixSetId: 'WebMercatorQuad',
    tileMatrix: '0',
    tileRow: '0',
    tileCol: '0',
    relative_path: 'regions/countries.geojson',
  },
  { z: '0', x: '0', y: '0' },
]

function addressOf(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'nothing')
}

test('HEAD is refused exactly when GET is, on every path of the OpenAPI document, and its length reveals no more', async () => {
  const { gateway } = maps()
  const { paths } = (await (await maps().get('/api/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const issue = async (body: object) => (await gateway.issueToken({ name: 'head', ...body })).token
  const everything = { basemap_codes: ['*'], vector_codes: ['*'] }
  const expired = await issue({ ...everything, expires_at: '2020-01-01T00:00:00Z' })
  const callers: Record<string, string | null> = {
    nobody: null,
    reader: await issue(everything),
    'reader of nothing': await issue({}),
    slicer: await issue({ ...everything, scopes: ['slice'] }),
    'reader from elsewhere': await issue({ ...everything, allowed_networks: ['192.0.2.0/24'] }),
    'late reader': expired,
  }
  let refusals = 0
  for (const [path, { get }] of Object.entries(paths)) {
    // The routes of operators have a separate test, by roles.
    if (get === undefined || path.startsWith('/api/v1/admin/') || JSON.stringify(get).includes('event-stream')) continue
    for (const address of new Set(VALUES.map((values) => addressOf(path, values)))) {
      for (const [who, token] of Object.entries(callers)) {
        const headers: Record<string, string> = token === null ? {} : { 'X-Access-Token': token }
        const ask = (method: string) => fetch(gateway.url + address, { method, headers, redirect: 'manual' })
        const [whole, head] = [await ask('GET'), await ask('HEAD')]
        const body = Buffer.from(await whole.arrayBuffer())
        expect([who, address, head.status, await head.text()]).toEqual([who, address, whole.status, ''])
        const options = await ask('OPTIONS')
        expect([who, address, options.status]).toEqual([who, address, expect.toBeOneOf([204, 401, 403, 405])])
        expect((await options.text()).length).toBeLessThan(200)
        if (whole.status !== 401 && whole.status !== 403) continue
        refusals++
        const length = head.headers.get('content-length')
        expect([who, address, length ?? String(body.length)]).toEqual([who, address, String(body.length)])
      }
    }
  }
  expect(refusals).toBeGreaterThan(100)
})
