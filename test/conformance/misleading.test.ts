import { createToken } from '@gateway/core/access/token-format.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_TOKEN } from '../harness/gateway.js'
import { useMaps, useToken } from './maps.js'
import { rawRequest } from './raw-request.js'

/*
 * Requests with an ordinary mistake. Each response must name the mistake and the remedy, without secrets that were sent and without
 * information that the caller may not see.
 */
const maps = useMaps()
const all = useToken(maps)
const narrow = useToken(maps, { basemap_codes: ['world', 'ghost'], vector_codes: ['ghost'] })
const slicer = useToken(maps, { scopes: ['slice'] })
let disabled: string
let signed: string
beforeAll(async () => {
  const { gateway } = maps()
  const issued = await gateway.issueToken({ basemap_codes: ['*'] })
  await gateway.admin.expect(`/tokens/${issued.id}/disable`, { method: 'POST' })
  disabled = issued.token
  const body = { basemap_code: 'world', expires_at: '2099-01-01' }
  const { url_template } = await gateway.admin.expect<{ url_template: string }>('/signed-urls', { body })
  signed = url_template.slice(url_template.indexOf('?'))
})

interface Case {
  readonly status: number
  /** strings that the message must contain */
  readonly says: readonly string[]
  readonly never?: readonly string[]
  readonly headers?: () => Record<string, string>
  readonly path: string | (() => string)
}

async function check({ path, headers, status, says, never = [] }: Case): Promise<void> {
  const target = typeof path === 'string' ? path : path()
  const answer = await maps().get(target, headers?.())
  const text = await answer.text()
  expect([answer.status, text]).toEqual([status, expect.any(String)])
  const message = text.startsWith('{') ? (JSON.parse(text) as { error: string }).error : text
  if (text.startsWith('{')) expect(Object.keys(JSON.parse(text))).toEqual(['error'])
  for (const words of says) expect(message).toContain(words)
  for (const words of never) expect(message).not.toContain(words)
}

const withToken = (token: () => string) => () => ({ 'X-Access-Token': token() })
const granted = withToken(all)

describe('a missing object', () => {
  test.each<[string, Case]>([
    [
      'an unknown basemap',
      { path: '/tiles/wrold/0/0/0.png', status: 404, says: ['no basemap "wrold"', '/api/v1/catalog/basemaps'] },
    ],
    [
      'an unknown version',
      { path: '/tiles/world/2026-3/0/0/0.png', status: 404, says: ['no version "2026-3"', '"2026-2"', '"2026-10"'] },
    ],
    ['a wrong extension', { path: '/tiles/world/2026-2/0/0/0.jpg', status: 404, says: ['2026-2', '.png'] }],
    ['a wrong extension of vector tiles', { path: '/tiles/streets/0/0/0.png', status: 404, says: ['.pbf or .mvt'] }],
    ['a zoom beyond those of the set', { path: '/tiles/world/2026-2/9/1/1.png', status: 404, says: ['zooms 0 to 2'] }],
    ['a zoom beyond all', { path: '/tiles/world/2026-2/31/0/0.png', status: 404, says: ['zooms go from 0 to 30'] }],
    [
      'a column beyond the grid',
      { path: '/tiles/world/2026-2/1/2/0.png', status: 404, says: ['zoom 1', 'columns 0 to 1', 'rows 0 to 1'] },
    ],
    ['a row beyond the grid', { path: '/tiles/world/2026-2/0/0/1.png', status: 404, says: ['zoom 0', 'rows 0 to 0'] }],
    ['a row beyond the grid, by TMS', { path: '/tms/1.0.0/world/0/0/1.png', status: 404, says: ['rows 0 to 0'] }],
    ['a tile of twice the pixels of an archive', { path: '/tiles/archive/0/0/0@2x.png', status: 404, says: ['@2x'] }],
    ['a negative column', { path: '/tiles/world/2026-2/1/-1/0.png', status: 400, says: ['whole numbers'] }],
    [
      'an address without a row',
      { path: '/tiles/world/2026-2', status: 404, says: ['/tiles/{code}/{z}/{x}/{y}.{ext}'] },
    ],
    [
      'TileJSON of an unknown version',
      { path: '/tiles/world/v9/tilejson.json', status: 404, says: ['no version "v9"', '"2026-2"'] },
    ],
    [
      'TileJSON of an unknown basemap',
      { path: '/tiles/nowhere/tilejson.json', status: 404, says: ['no basemap "nowhere"'] },
    ],
    ['an archive of a folder', { path: '/archives/world/2026-2.pmtiles', status: 404, says: ['stored as xyz'] }],
    [
      'an archive under the other extension',
      { path: '/archives/archive/default.pmtiles', status: 404, says: ['ask for .mbtiles'] },
    ],
    [
      'an unknown vector',
      { path: '/vectors/nothing/download', status: 404, says: ['no vector "nothing"', '/api/v1/catalog/vectors'] },
    ],
    [
      'a vector under the extension of another kind',
      { path: '/vectors/regions-rivers.kml', status: 404, says: ['shapefile', '/vectors/regions-rivers.zip'] },
    ],
    [
      'an unknown layer of the WMTS',
      {
        path: '/wmts?SERVICE=WMTS&REQUEST=GetTile&STYLE=default&LAYER=nowhere&TILEMATRIXSET=WebMercatorQuad&TILEMATRIX=0&TILEROW=0&TILECOL=0&FORMAT=image/png',
        status: 400,
        says: ['there is no such layer'],
      },
    ],
    [
      'a row of the WMTS beyond the grid',
      {
        path: '/wmts?SERVICE=WMTS&REQUEST=GetTile&STYLE=default&LAYER=world&TILEMATRIXSET=WebMercatorQuad&TILEMATRIX=0&TILEROW=1&TILECOL=0&FORMAT=image/png',
        status: 400,
        says: ['0 to 0'],
      },
    ],
    [
      'a misspelt parameter of a list',
      {
        path: '/api/v1/catalog/basemaps?limt=5',
        status: 400,
        says: ['query.limt: unknown parameter', 'did you mean limit?'],
      },
    ],
    [
      'a limit out of bounds',
      { path: '/api/v1/catalog/vectors?limit=5000', status: 400, says: ['query.limit', 'at most 1000', '"5000"'] },
    ],
  ])('%s', (_, one) => check({ headers: granted, ...one }))

  test('a tile that is missing inside its grid and zooms gets the short response, natively and by JavaScript', async () => {
    for (let i = 0; i < 20; i++) {
      await check({
        path: '/tiles/world/2026-2/2/9/9.png',
        headers: granted,
        status: 404,
        says: ['there is no such tile', 'columns 0 to 3'],
      })
      await check({ path: '/tiles/world/2026-2/9/1/1.png', headers: granted, status: 404, says: ['zooms 0 to 2'] })
    }
  })

  test.each<[string, Case]>([
    [
      'a basemap that is not granted, whether or not it exists',
      { path: '/tiles/archive/9/9/9.xyz', status: 403, says: ['no access'], never: ['mbtiles', 'zoom'] },
    ],
    [
      'one that is not granted and does not exist',
      { path: '/tiles/nowhere/0/0/0.png', status: 403, says: ['no access'], never: ['nowhere'] },
    ],
    [
      'one that is granted and does not exist',
      { path: '/tiles/ghost/0/0/0.png', status: 404, says: ['no basemap "ghost"'] },
    ],
  ])('%s', (_, one) => check({ headers: withToken(narrow), ...one }))

  test('a signed URL does not reveal other versions', () =>
    check({
      path: () => `/tiles/world/v9/0/0/0.png${signed}`,
      status: 404,
      says: ['no version "v9"'],
      never: ['2026'],
    }))

  test('without a token the response reveals no details', () =>
    check({
      path: '/tiles/world/v9/0/0/0.png',
      status: 401,
      says: ['a service token is required'],
      never: ['2026', 'v9'],
    }))
})

describe('a misplaced or wrong token', () => {
  const TILE = '/tiles/world/2026-2/0/0/0.png'
  const unknown = createToken()
  const WAYS = ['Authorization: Bearer', 'X-Access-Token', '?token=', '?access_token=']

  const cases: [string, Case][] = [
    ['no token at all', { path: TILE, status: 401, says: WAYS }],
    [
      'Authorization without its scheme',
      { path: TILE, headers: () => ({ Authorization: all() }), status: 401, says: [...WAYS, 'without its scheme'] },
    ],
    [
      'the scheme Token',
      {
        path: TILE,
        headers: () => ({ Authorization: `Token ${all()}` }),
        status: 401,
        says: ['the scheme Token', 'Authorization: Bearer'],
      },
    ],
    [
      'Bearer with nothing behind it',
      { path: TILE, headers: () => ({ Authorization: 'Bearer' }), status: 401, says: ['not followed by a token'] },
    ],
    [
      'Basic with another password',
      {
        path: TILE,
        headers: () => ({ Authorization: 'Basic YTpi' }),
        status: 401,
        says: ['HTTP Basic is accepted here only if'],
      },
    ],
    [
      '?api_key=',
      { path: () => `${TILE}?api_key=${all()}`, status: 401, says: [...WAYS, 'the parameter api_key is not read'] },
    ],
    ['?key=', { path: () => `${TILE}?key=${all()}`, status: 401, says: ['the parameter key is not read'] }],
    ['?Token=', { path: () => `${TILE}?Token=${all()}`, status: 401, says: ['the parameter Token is not read'] }],
    ['an empty ?token=', { path: `${TILE}?token=`, status: 401, says: ['the parameter token is empty'] }],
    [
      'a token that is cut off',
      {
        path: TILE,
        headers: () => ({ 'X-Access-Token': all().slice(0, -1) }),
        status: 401,
        says: ['38 letters and digits', 'cut off'],
      },
    ],
    [
      'the admin token',
      {
        path: TILE,
        headers: () => ({ Authorization: `Bearer ${ADMIN_TOKEN}` }),
        status: 401,
        says: ['service token', 'ADMIN_TOKEN opens only admin routes'],
        never: [ADMIN_TOKEN],
      },
    ],
    [
      'a token of another gateway',
      {
        path: TILE,
        headers: () => ({ 'X-Access-Token': unknown }),
        status: 401,
        says: ['does not know', 'another gateway'],
      },
    ],
    [
      'a disabled token',
      { path: TILE, headers: () => ({ 'X-Access-Token': disabled }), status: 401, says: ['disabled'] },
    ],
    [
      'a token of another scope',
      { path: TILE, headers: withToken(slicer), status: 403, says: ['lacks the scope "read"'] },
    ],
    [
      'a service token on an admin route',
      {
        path: '/api/v1/admin/tokens',
        headers: () => ({ Authorization: `Bearer ${all()}` }),
        status: 401,
        says: ['this is a service token', 'ADMIN_TOKEN'],
      },
    ],
    [
      'the same without a scheme',
      {
        path: '/api/v1/admin/tokens',
        headers: () => ({ Authorization: all() }),
        status: 401,
        says: ['this is a service token'],
      },
    ],
    [
      'the same as a password',
      {
        path: '/api/v1/admin/tokens',
        headers: () => ({ Authorization: `Basic ${btoa(`x:${all()}`)}` }),
        status: 401,
        says: ['this is a service token'],
      },
    ],
    [
      'the same in X-Access-Token',
      {
        path: '/api/v1/admin/tokens',
        headers: granted,
        status: 401,
        says: ['X-Access-Token is read only for service tokens'],
      },
    ],
    [
      'the admin token without its scheme',
      {
        path: '/api/v1/admin/tokens',
        headers: () => ({ Authorization: ADMIN_TOKEN }),
        status: 401,
        says: ['has no scheme', 'Authorization: Bearer'],
        never: [ADMIN_TOKEN],
      },
    ],
    [
      'a wrong admin token',
      {
        path: '/api/v1/admin/tokens',
        headers: () => ({ Authorization: 'Bearer nonsense' }),
        status: 401,
        says: ['the admin token is wrong'],
      },
    ],
  ]
  test.each(cases)('%s', (_, one) => check({ ...one, never: [all(), ...(one.never ?? [])] }))

  test.each(cases.filter(([, { path }]) => path === TILE))('%s, at the control plane', (_, one) =>
    check({ ...one, path: one.status === 403 ? '/api/v1/catalog/basemaps' : '/api/v1/slice/jobs/1' }),
  )
})

describe('a wrong body or parameter', () => {
  const source = { code: 'odd', kind: 'basemap', path: '/nowhere/at/all' }
  const post = (path: string, body: unknown, method = 'POST') =>
    maps().gateway.admin.call<{ error: string }>(path, { method, body })

  test.each<[string, string, unknown, string]>([
    [
      'a misspelt field',
      '/scan-sources',
      { ...source, enabeld: false },
      'body.enabeld: unknown field; did you mean enabled?',
    ],
    [
      'a field in another spelling',
      '/tokens',
      { name: 'x', basemapCodes: ['*'] },
      'body.basemapCodes: unknown field; did you mean basemap_codes?',
    ],
    [
      'a misspelt field within a field',
      '/tokens',
      { name: 'x', rate_limit: { per_second: 1, brust: 1 } },
      'body.rate_limit.brust: unknown field; did you mean burst?',
    ],
    [
      'a field where none are taken',
      '/vectors/rescan',
      { force: true },
      'body.force: unknown field, since this request takes no fields',
    ],
    [
      'a misspelt kind',
      '/scan-sources',
      { ...source, kind: 'basmap' },
      'body.kind: must be one of "basemap", "vector", "style", "service", "postgis"; received "basmap"; did you mean "basemap"?',
    ],
    [
      'a relative path',
      '/scan-sources',
      { ...source, path: 'maps' },
      'body.path: must be an absolute path, s3://bucket/prefix or an https address; received "maps"',
    ],
    [
      'a truth value as text',
      '/scan-sources',
      { ...source, enabled: 'false' },
      'body.enabled: must be true or false; received "false"; did you mean false?',
    ],
    [
      'one code in place of a list',
      '/tokens',
      { name: 'x', basemap_codes: 'world' },
      'body.basemap_codes: must be a list; received "world"; did you mean ["world"]?',
    ],
    [
      'seconds in place of a date',
      '/tokens',
      { name: 'x', expires_at: 1_900_000_000 },
      'received 1900000000; did you mean "2030-03-17T17:46:40.000Z"?',
    ],
    [
      'a date with slashes',
      '/tokens',
      { name: 'x', expires_at: '2030/3/17' },
      'received "2030/3/17"; did you mean "2030-03-17"?',
    ],
    [
      'a scope in capitals',
      '/tokens',
      { name: 'x', scopes: ['READ'] },
      'body.scopes.0: must be one of "read", "slice", "sign"; received "READ"; did you mean "read"?',
    ],
    [
      'latitudes before longitudes',
      '/signed-urls',
      { basemap_code: 'world', expires_at: '2030-01-01', bounds: [22, 113, 23, 114] },
      'did you mean [113,22,114,23]?',
    ],
    [
      'a number as text',
      '/exports',
      { basemap_code: 'world', version: '2026-2', zoom_max: '5' },
      'body.zoom_max: must be a whole number; received "5"; did you mean 5?',
    ],
    [
      'a zoom beyond the limit',
      '/exports',
      { basemap_code: 'world', version: '2026-2', zoom_max: 99 },
      'body.zoom_max: must be at most 26; received 99',
    ],
    [
      'a field that is missing',
      '/basemaps/world/default-version',
      { verison: '2026-2' },
      'body.version: is required; body.verison: unknown field; did you mean version?',
    ],
    [
      'a secret that is no text',
      '/targets',
      { code: 'a', kind: 'http', url: 'http://user:hunter2@x y', secret: 42 },
      'body.secret: must be a text',
    ],
  ])('%s', async (_, path, body, words) => {
    const { status, headers, body: answer } = await post(path, body)
    expect([status, headers.get('x-refusal')]).toEqual([400, 'invalid_parameters'])
    expect(Object.keys(answer)).toEqual(['error'])
    expect(answer.error).toContain(words)
    expect(answer.error).not.toContain('hunter2')
    // The same as codes and parameters, for translations.
    const details = JSON.parse(decodeURIComponent(headers.get('x-refusal-details') ?? '')) as [string, object][]
    expect(details.length).toBeGreaterThan(0)
  })

  test.each<[string, string, string]>([
    ['a comma too many', '{"name": "x",\n "scopes": ["read"],}', 'line 2, column 21: found "}"'],
    ['single quotes', "{'name': 'x'}", 'line 1, column 2: found "\'", where a name in double quotes should be'],
    ['a body that is cut off', '{"name": "x"', 'it ends at line 1, column 13'],
    ['the body of a form', 'name=x&scopes=read', 'this is the body of an HTML form'],
  ])('%s in JSON is told by line and column', async (_, body, words) => {
    const answer = await fetch(`${maps().gateway.url}/api/v1/admin/tokens`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' },
      body,
    })
    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringContaining(words) }])
  })

  test.each<[string, string, object, string]>([
    ['an expiry in the past', '/tokens', { name: 'x', basemap_codes: ['*'], expires_at: '2001-01-01' }, 'expiry_past'],
    ['a code that does not exist', '/tokens', { name: 'x', basemap_codes: ['wrold'] }, 'unknown_code'],
    ['a token that can read nothing', '/tokens', { name: 'x' }, 'nothing_granted'],
    ['a directory that does not exist', '/scan-sources', { ...source, enabled: false }, 'path_missing'],
    [
      'a target that does not exist',
      '/targets',
      { code: 'odd', kind: 'directory', path: '/nowhere/at/all' },
      'path_missing',
    ],
    [
      'a signed URL that has expired',
      '/signed-urls',
      { basemap_code: 'world', expires_at: '2001-01-01' },
      'expiry_past',
    ],
  ])('%s is accepted with a warning', async (_, path, body, code) => {
    const { status, body: answer } = await maps().gateway.admin.call<{ warnings?: object[] }>(path, { body })
    expect(status).toBe(200)
    expect(answer.warnings).toMatchObject([{ code, message: expect.any(String) }])
  })

  test('the codes of a refusal are for administrators only', async () => {
    const headers = [
      'Host: x',
      `X-Access-Token: ${slicer()}`,
      'Content-Type: application/json',
      'Content-Length: 13',
      'Connection: close',
    ]
    const request = `POST /api/v1/slice/jobs HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{"zoom_mn":99}`.slice(0, -1)
    const answer = await rawRequest(maps().gateway.url, request)
    expect([answer?.status, answer?.head.includes('x-refusal')]).toEqual([400, false])
  })
})
