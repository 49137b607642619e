import { afterEach, describe, expect, test } from 'vitest'
import { rawRequest } from '../conformance/raw-request.js'
import { SlowBody } from '../harness/slow-body.js'
import { useGateway } from '../harness/use-gateway.js'

/** More than the connections of an edge to its control plane. */
const MANY = Number(process.env.SLOW_BODIES ?? 300)

const gateway = useGateway({ env: { IMPORT_TOKEN: 'the import token' } })
const open: SlowBody[] = []
afterEach(() => {
  for (const body of open.splice(0)) body.close()
})

function slowBodies(url: string, path: string, headers: Record<string, string> = {}, announced?: number | null) {
  const bodies = Array.from({ length: MANY }, () => new SlowBody(url, path, headers, announced))
  open.push(...bodies)
  return bodies
}

const MULTIPART = { 'Content-Type': 'multipart/form-data; boundary=x' }
const REFUSED: [
  what: string,
  path: string,
  status: number,
  headers?: Record<string, string>,
  announced?: number | null,
][] = [
  ['a path that does not exist', '/nowhere', 404],
  ['a path that does not exist, in chunks', '/nowhere', 404, {}, null],
  ['a method that is not answered', '/api/v1/system', 405],
  ['an admin route without credentials', '/api/v1/admin/tokens', 401],
  ['a submission without a token', '/api/v1/slice/jobs', 401],
  ['an import without a credential', '/api/v1/import', 401, MULTIPART],
  [
    'a form',
    '/api/v1/admin/tokens',
    415,
    { Authorization: 'Bearer harness-admin-token', 'Content-Type': 'text/plain' },
  ],
]

describe.each(['edge', 'control plane'] as const)('at the %s', (where) => {
  const url = () => (where === 'edge' ? gateway().url : gateway().controlPlane.url)

  test.each([
    // A malformed host, which the edge checks first (RFC 9112, section 3.2).
    ['Host', ':'.repeat(4_000), where === 'edge' ? 400 : 431],
    ['Authorization', `Bearer ${' '.repeat(6_000)}`, 431],
    ['X-Forwarded-For', '1,'.repeat(3_000), 431],
    ['Range', `bytes=${' '.repeat(6_000)}x`, 401],
    ['If-None-Match', '"a",'.repeat(2_000), 401],
  ])('an overlong %s is refused, or ignored, before any credential', async (name, value, status) => {
    const head = name === 'Host' ? '' : `Host: ${new URL(url()).host}\r\n`
    const asked = `GET /api/v1/admin/tokens HTTP/1.1\r\n${head}${name}: ${value}x\r\nConnection: close\r\n\r\n`
    expect((await rawRequest(url(), asked))?.status).toBe(status)
  })

  test('a response sent before the body ends reaches a client that is still sending', async () => {
    const { host } = new URL(url())
    const head = `POST /nowhere HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 900000\r\nConnection: close\r\n\r\n`
    expect((await rawRequest(url(), head + ' '.repeat(899_999)))?.status).toBe(404)
  })

  test.each(REFUSED)('%s is refused before its slow body', async (_, path, status, headers, announced) => {
    const body = new SlowBody(url(), path, headers ?? {}, announced)
    open.push(body)
    expect(await body.status()).toBe(status)
  })

  test.each([
    ['bodies of submissions that are let in', '/api/v1/slice/jobs', {}],
    ['imports that are let in', '/api/v1/import', { ...MULTIPART, Authorization: 'Bearer the import token' }],
    ['bodies for nobody', '/nowhere', {}],
  ])('slow %s hold up nobody else', async (_, path, more: Record<string, string>) => {
    const { token } = await gateway().issueToken({ scopes: ['read', 'slice'], basemap_codes: ['*'] })
    const before = Date.now()
    const bodies = slowBodies(url(), path, { 'X-Access-Token': token, ...more })
    const waits: number[] = []
    for (let n = 0; n < 20; n++) {
      const at = performance.now()
      const answer = await fetch(`${url()}/api/v1/catalog/basemaps?token=${token}`)
      expect(answer.status).toBe(200)
      await answer.arrayBuffer()
      waits.push(performance.now() - at)
    }
    if (process.env.SLOW_BODIES) {
      const sorted = waits.sort((a, b) => a - b).map(Math.round)
      const statuses: Record<number, number> = {}
      for (const { statusNow } of bodies) statuses[statusNow] = (statuses[statusNow] ?? 0) + 1
      console.log(
        where,
        path,
        MANY,
        'catalog ms: median',
        sorted[10],
        'max',
        sorted[19],
        'took',
        Date.now() - before,
        JSON.stringify(statuses),
      )
    }
    // The admitted requests were still waiting when the others got their responses.
    if (path === '/api/v1/slice/jobs') expect(bodies.filter((body) => body.isWaiting).length).toBe(MANY)
  })
})
