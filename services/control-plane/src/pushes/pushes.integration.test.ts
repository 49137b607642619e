import { createHmac, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { PushRecord } from '@gateway/contracts/push.js'
import { insertCallback } from '@gateway/store/deliveries.js'
import { insertSession } from '@gateway/store/operator-sessions.js'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Received, startReceiver } from '../deliveries/testing/receiver.js'
import { parseForm, unzip } from '../deliveries/testing/unpack.js'
import { deliveries } from '../features.js'
import { newSessionId, sessionDigest } from '../platform/admin-gate/session-cookie.js'
import { fillCatalog } from '../testing/catalog.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'

const ADMIN = '/api/v1/admin'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
let gateway: TestApp
let home: string
let loop: Promise<unknown>
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'pushes-'))
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, {
    RETRY_WAITS: '0.05,0.1,0.1',
    // No server listens there: a test only needs sessions with roles.
    OIDC_ISSUER: 'http://127.0.0.1:9',
    OIDC_CLIENT_ID: 'gateway',
    OIDC_ROLES: 'admin=gis-admins',
  })
  await fillCatalog(gateway.ctx.sql, home)
  loop = deliveries.run(gateway.ctx)
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
afterAll(async () => {
  await gateway.close()
  await loop
  rmSync(home, { recursive: true })
})

async function post<T = Record<string, unknown>>(url: string, payload: object, status: number): Promise<T> {
  const answer = await gateway.admin({ method: 'POST', url: `${ADMIN}${url}`, payload })
  expect(answer.statusCode, answer.body).toBe(status)
  return answer.json()
}

const get = async (url: string) => (await gateway.admin({ method: 'GET', url: `${ADMIN}${url}` })).json()

async function ended(records: string, id: string): Promise<PushRecord & { attempt_log: Record<string, unknown>[] }> {
  for (;;) {
    const record = await get(`/${records}/${id}`)
    if (record.next_attempt_at === null) return record
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function receiver(answer?: Parameters<typeof startReceiver>[0]) {
  const started = await startReceiver(answer)
  closing.push(started.close)
  return started
}

async function session(role: 'viewer' | 'operator' | 'admin'): Promise<string> {
  const id = newSessionId()
  const who = { name: role, actor: role, role, begunBy: 'oidc' } as const
  await gateway.ctx.sql.begin((tx) => insertSession(tx, sessionDigest(id), who, 3600))
  return `gateway_session=${id}`
}

test('only admins see the query of a target, in which receivers expect a key', async () => {
  const shown = new URL('/keyed', (await receiver()).url).href
  const keyed = { code: 'keyed', kind: 'http', url: `${shown}?key=s3cret` }
  await post('/targets', keyed, 200)
  await post('/targets', { ...keyed, name: 'renamed' }, 200)
  const pushed = await post<PushRecord>('/pushes', { target_code: 'keyed', basemap_code: 'world', version: 'v1' }, 202)
  await ended('push-records', pushed.id)
  const paths = ['/targets', '/targets/keyed', `/push-records/${pushed.id}`]
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    const headers = { cookie: await session(role) }
    for (const path of paths) {
      const { body } = await gateway.app.inject({ url: `${ADMIN}${path}`, headers })
      expect([role, path, body.includes(shown)]).toEqual([role, path, true])
      expect([role, path, body.includes('s3cret')]).toEqual([role, path, role === 'admin'])
    }
  }
  await gateway.admin({ method: 'DELETE', url: `${ADMIN}/targets/keyed` })
  const audit = (await gateway.admin({ url: `${ADMIN}/audit?subject=keyed` })).body
  expect([audit.includes(shown), audit.includes('s3cret')]).toEqual([true, false])
  expect((await get('/targets?q=s3cret')).total).toBe(0)
})

const verified = (one: Received) => new Webhook(SECRET).verify(one.body, one.headers as Record<string, string>)

describe('targets', () => {
  test('are created and updated by code; no response, list or audit entry contains the secret', async () => {
    const body = { code: 'city', kind: 'http', url: 'http://127.0.0.1:9/x', secret: SECRET, name: 'City' }
    const created = {
      code: 'city',
      name: 'City',
      kind: 'http',
      url: body.url,
      path: null,
      mode: 'notify',
      enabled: true,
    }
    expect(await post('/targets', body, 200)).toEqual({ ...created, has_secret: true })
    const { secret: _, name: __, ...rest } = body
    expect(await post('/targets', { ...rest, enabled: false }, 200)).toEqual({
      ...created,
      enabled: false,
      has_secret: true,
    })
    const unset = { secret: null, name: null, mode: null, path: null, enabled: null }
    expect(await post('/targets', { ...rest, ...unset }, 200)).toEqual({
      ...created,
      enabled: false,
      has_secret: true,
    })
    expect(await post('/targets', { ...rest, secret: '' }, 200)).toMatchObject({ enabled: false, has_secret: false })
    const list = await get('/targets')
    const audit = JSON.stringify(await get('/audit'))
    expect(JSON.stringify(list)).not.toContain('whsec')
    expect(audit).toContain('target.update')
    expect(audit).not.toContain(SECRET.slice(6))
  })

  test.each([
    [{ kind: 'http' }, 'url'],
    [{ kind: 'http', url: 'ftp://h/' }, 'url'],
    [{ kind: 'http', url: 'http://user:pass@h/' }, 'credentials'],
    [{ kind: 'http', url: 'http://169.254.169.254/' }, 'never'],
    [{ kind: 'http', url: 'http://[fe80::1]/' }, 'never'],
    [{ kind: 'http', url: 'http://h/', path: '/x' }, 'path'],
    [{ kind: 'http', url: 'http://h/', secret: 'whsec_!' }, 'base64'],
    [{ kind: 'directory' }, 'path'],
    [{ kind: 'directory', path: 'relative' }, 'path'],
    [{ kind: 'directory', path: '/x', secret: 's' }, 'secret'],
    [{ kind: 'directory', path: '/x', mode: 'copy' }, 'mode'],
    [{ kind: 'http', url: 'http://h/', code: 'a/b' }, 'code'],
  ])('%j is refused', async (body, word) => {
    const answer = await post('/targets', { code: 'wrong', ...body }, 400)
    expect(answer.error).toContain(word)
  })

  test('a test call tries a target without a record and returns the response', async () => {
    const { url, received } = await receiver((response) => response.writeHead(418).end('I am a teapot'))
    await post('/targets', { code: 'tried', kind: 'http', url, secret: SECRET, enabled: false }, 200)
    const before = (await get('/push-records')).total
    expect(await post('/targets/tried/test', {}, 200)).toMatchObject({
      delivered: false,
      status: 418,
      answer: 'I am a teapot',
    })
    expect(verified(received[0] as Received)).toMatchObject({ event: 'target.test', target: { code: 'tried' } })
    expect((await get('/push-records')).total).toBe(before)
    await post('/targets/none/test', {}, 404)
    await post('/targets', { code: 'shelf', kind: 'directory', path: home }, 200)
    expect(await post('/targets/shelf/test', {}, 200)).toMatchObject({ delivered: true, status: null })
    await post('/targets', { code: 'shelf', kind: 'directory', path: path.join(home, 'gone') }, 200)
    expect(await post('/targets/shelf/test', {}, 200)).toMatchObject({ delivered: false })
  })
})

describe('a push', () => {
  test('gives a receiver the data to use the layer, signed, and is pending once accepted', async () => {
    const { url, received, count } = await receiver()
    await post('/targets', { code: 'notify', kind: 'http', url, secret: SECRET }, 200)
    const body = { target_code: 'notify', basemap_code: 'world', version: 'v1' }
    const record = await post<PushRecord>('/pushes', body, 202)
    expect(record).toMatchObject({ ...body, status: 'pending', attempts: 0, message: '' })
    await count(1)
    const event = verified(received[0] as Received)
    expect(event).toMatchObject({
      event: 'basemap.version.pushed',
      record: { id: record.id, ...body, status: 'pending' },
      basemap: {
        code: 'world',
        url_template: 'http://127.0.0.1:8910/tiles/world/current/{z}/{x}/{y}.png',
        tilejson_url: 'http://127.0.0.1:8910/tiles/world/tilejson.json',
        pushed_version: {
          version: 'v1',
          bounds: [-180, -85, 180, 85],
          url_template: 'http://127.0.0.1:8910/tiles/world/v1/{z}/{x}/{y}.png',
          tilejson_url: 'http://127.0.0.1:8910/tiles/world/v1/tilejson.json',
        },
      },
      delivered: expect.any(String),
    })
    // The path of the data on this machine must not leave it.
    expect((received[0] as Received).body).not.toContain(home)
    expect(await ended('push-records', record.id)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      attempt_log: [{ outcome: 'succeeded', http_status: 200, answer: 'thanks', message: '200 OK' }],
    })
    const [{ request }] = (await get(`/push-records/${record.id}`)).attempt_log
    expect(request).toMatchObject({ method: 'POST', url, body: (received[0] as Received).body })
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': `msg_${record.id}`,
      'webhook-signature': '[hidden]',
    })
  })

  test('of a vector names its download URL', async () => {
    const { url, received, count } = await receiver()
    await post('/targets', { code: 'notify', kind: 'http', url }, 200)
    const record = await post<PushRecord>('/vector-pushes', { target_code: 'notify', vector_code: 'main' }, 202)
    await count(1)
    expect(JSON.parse((received[0] as Received).body)).toMatchObject({
      event: 'vector.pushed',
      record: { id: record.id, vector_code: 'main' },
      vector: { code: 'main', download_url: 'http://127.0.0.1:8910/vectors/main/download' },
    })
    expect(await ended('vector-push-records', record.id)).toMatchObject({ status: 'succeeded' })
  })

  test('of `current` names the actual version', async () => {
    const { url } = await receiver()
    await post('/targets', { code: 'notify', kind: 'http', url }, 200)
    const record = await post<PushRecord>(
      '/pushes',
      { target_code: 'notify', basemap_code: 'world', version: 'current' },
      202,
    )
    expect(record.version).toBe('v2')
    await ended('push-records', record.id)
  })

  test('that fails is retried and then failed; a manual retry starts over', async () => {
    let status = 500
    const { url, received } = await receiver((response) => response.writeHead(status).end('no'))
    await post('/targets', { code: 'stubborn', kind: 'http', url }, 200)
    const { id } = await post<PushRecord>(
      '/pushes',
      { target_code: 'stubborn', basemap_code: 'world', version: 'v1' },
      202,
    )
    expect(await ended('push-records', id)).toMatchObject({
      status: 'failed',
      attempts: 4,
      message: '500 Internal Server Error',
    })
    expect(received.length).toBe(4)
    status = 200
    expect(await post(`/push-records/${id}/retry`, {}, 202)).toMatchObject({ id, status: 'pending', attempts: 0 })
    const record = await ended('push-records', id)
    expect(record).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect(record.attempt_log.length).toBe(5)
  })

  test('in progress is cancelled at once, and stays so whatever the result of the attempt; a retry starts over', async () => {
    const held: ServerResponse[] = []
    const { url, count } = await receiver((response) => void held.push(response))
    await post('/targets', { code: 'silent', kind: 'http', url }, 200)
    const body = { target_code: 'silent', basemap_code: 'world', version: 'v1' }
    const { id } = await post<PushRecord>('/pushes', body, 202)
    await count(1)
    const ended = { id, status: 'failed', next_attempt_at: null, acknowledged_at: expect.any(String) }
    const message = expect.stringMatching(/^cancelled by ADMIN_TOKEN at /)
    expect(await post(`/push-records/${id}/cancel`, {}, 200)).toMatchObject({ ...ended, message })
    held[0]?.end('too late')
    expect(await get(`/push-records/${id}`)).toMatchObject({
      ...ended,
      message,
      attempt_log: [{ outcome: 'interrupted', message }],
    })
    await post(`/push-records/${id}/cancel`, {}, 409)
    await post('/push-records/00000000-0000-4000-8000-000000000000/cancel', {}, 404)
    const again = { id, status: 'pending', acknowledged_at: null }
    expect(await post(`/push-records/${id}/retry`, {}, 202)).toMatchObject(again)
    await count(2)
    await post(`/push-records/${id}/cancel`, {}, 200)
    for (const response of held) response.end()
    const audited = (await get(`/audit?subject=${id}`)).items
    expect(audited.map(({ subject_name: name }: { subject_name: string }) => name)).toEqual(Array(4).fill('World'))
  })

  test('that failed is listed as unseen until it is acknowledged', async () => {
    await post('/targets', { code: 'lost', kind: 'http', url: 'http://127.0.0.1:9/' }, 200)
    const { id } = await post<PushRecord>('/vector-pushes', { target_code: 'lost', vector_code: 'main' }, 202)
    await ended('vector-push-records', id)
    const unseen = () => get('/vector-push-records?status=failed&acknowledged=false&target_code=lost')
    expect(await unseen()).toMatchObject({ total: 1, items: [{ id, acknowledged_at: null }] })
    await post(`/vector-push-records/${id}/acknowledge`, {}, 200)
    expect(await unseen()).toMatchObject({ total: 0 })
    const record = await get(`/vector-push-records/${id}`)
    expect(await post(`/vector-push-records/${id}/acknowledge`, {}, 200)).toMatchObject({
      acknowledged_at: record.acknowledged_at,
    })
    await post(`/push-records/${id}/acknowledge`, {}, 404)
  })

  test('of an unknown object returns 404; to a disabled target it returns 400', async () => {
    await post('/targets', { code: 'real', kind: 'http', url: 'http://127.0.0.1:9/' }, 200)
    await post('/targets', { code: 'off', kind: 'http', url: 'http://127.0.0.1:9/', enabled: false }, 200)
    const body = { target_code: 'real', basemap_code: 'world', version: 'v1' }
    await post('/pushes', { ...body, target_code: 'none' }, 404)
    await post('/pushes', { ...body, basemap_code: 'none' }, 404)
    await post('/pushes', { ...body, version: 'none' }, 404)
    await post('/pushes', { ...body, target_code: 'off' }, 400)
    await post('/pushes', { target_code: 'real' }, 400)
    await post('/vector-pushes', { target_code: 'real', vector_code: 'none' }, 404)
    await post('/push-records/none/retry', {}, 404)
    await post('/push-records/00000000-0000-4000-8000-000000000000/retry', {}, 404)
    await post('/vector-push-records/00000000-0000-4000-8000-000000000000/retry', {}, 404)
  })

  test('is listed among the 20 newest, and older ones by paging, each once', async () => {
    const { url } = await receiver()
    await post('/targets', { code: 'notify', kind: 'http', url }, 200)
    const ids: string[] = []
    for (let i = 0; i < 25; i++) {
      const { id } = await post<PushRecord>(
        '/pushes',
        { target_code: 'notify', basemap_code: 'world', version: 'v1' },
        202,
      )
      ids.unshift(id)
    }
    const first = await get('/push-records')
    expect(first.items.map((one: PushRecord) => one.id)).toEqual(ids.slice(0, 20))
    const next = await get(`/push-records?limit=3&before=${ids[19]}`)
    expect(next.items.map((one: PushRecord) => one.id)).toEqual(ids.slice(20, 23))
    expect(next.total).toBe(first.total)
    for (const id of ids) await ended('push-records', id)
  })
})

describe('an upload', () => {
  test.each([null, SECRET])(
    'carries the event and the files, laid out like a scan source (secret: %s)',
    async (secret) => {
      const { url, received } = await receiver()
      await post('/targets', { code: 'upload', kind: 'http', url, mode: 'upload', secret }, 200)
      const expected: Record<string, string[]> = {
        v1: ['world/v1/metadata.json', ...Array.from({ length: 16 }, (_, i) => `world/v1/2/${i >> 2}/${i & 3}.png`)],
        v2: ['world/v2.mbtiles'],
      }
      for (const [version, names] of Object.entries(expected)) {
        const { id } = await post<PushRecord>('/pushes', { target_code: 'upload', basemap_code: 'world', version }, 202)
        expect(await ended('push-records', id)).toMatchObject({ status: 'succeeded' })
        const one = received.at(-1) as Received
        const raw = Buffer.from(one.body, 'latin1')
        if (secret === null) expect(one.headers['webhook-signature']).toBeUndefined()
        // The signature covers the whole body, as the standard requires.
        else verifiedBytes(raw, one)
        const form = await parseForm(raw, one.headers['content-type'] as string)
        expect(JSON.parse(String(form.event))).toMatchObject({ event: 'basemap.version.pushed', record: { id } })
        const files = await unzip(form.archive as Buffer)
        expect(Object.keys(files)).toEqual(names)
        for (const name of names)
          expect(files[name]?.equals(readFileSync(path.join(home, 'maps', name))), name).toBe(true)
      }
    },
  )

  test('of a shapefile contains its parts and nothing else', async () => {
    const { url, received } = await receiver()
    await post('/targets', { code: 'upload', kind: 'http', url, mode: 'upload' }, 200)
    const { id } = await post<PushRecord>('/vector-pushes', { target_code: 'upload', vector_code: 'lakes' }, 202)
    expect(await ended('vector-push-records', id)).toMatchObject({ status: 'succeeded' })
    const one = received[0] as Received
    const form = await parseForm(Buffer.from(one.body, 'latin1'), one.headers['content-type'] as string)
    expect(Object.keys(await unzip(form.archive as Buffer))).toEqual(['lakes.dbf', 'lakes.shx', 'lakes.shp'])
  })
})

/** Verifies bytes by the standard's formula, because the reference implementation accepts only text. */
function verifiedBytes(raw: Buffer, { headers }: Received): void {
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), raw])
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
}

describe('a directory', () => {
  let shelf: string
  beforeAll(async () => {
    shelf = mkdtempSync(path.join(tmpdir(), 'shelf-'))
    await post('/targets', { code: 'disk', kind: 'directory', path: shelf }, 200)
  })
  afterAll(() => rmSync(shelf, { recursive: true }))

  const listing = () =>
    readdirSync(shelf, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(shelf, path.join(entry.parentPath, entry.name)))
      .sort()

  async function pushed(version: string, target_code = 'disk') {
    const { id } = await post<PushRecord>('/pushes', { target_code, basemap_code: 'world', version }, 202)
    return ended('push-records', id)
  }

  test('contains a complete version, and a later push replaces it whatever it contained', async () => {
    expect(await pushed('v1')).toMatchObject({ status: 'succeeded', message: '' })
    const tiles = Array.from({ length: 16 }, (_, i) => `world/v1/2/${i >> 2}/${i & 3}.png`)
    expect(listing()).toEqual([...tiles, 'world/v1/metadata.json'])
    for (const name of tiles) {
      expect(readFileSync(path.join(shelf, name)).equals(readFileSync(path.join(home, 'maps', name))), name).toBe(true)
    }
    rmSync(path.join(shelf, 'world/v1/2/0'), { recursive: true })
    mkdirSync(path.join(shelf, 'world/v1/9/9'), { recursive: true })
    expect(await pushed('v1')).toMatchObject({ status: 'succeeded' })
    expect(listing()).toEqual([...tiles, 'world/v1/metadata.json'])
    expect(readdirSync(path.join(shelf, 'world'))).toEqual(['v1'])
  })

  test('contains an archive and a shapefile at their paths', async () => {
    expect(await pushed('v2')).toMatchObject({ status: 'succeeded' })
    const { id } = await post<PushRecord>('/vector-pushes', { target_code: 'disk', vector_code: 'lakes' }, 202)
    expect(await ended('vector-push-records', id)).toMatchObject({ status: 'succeeded' })
    expect(listing()).toEqual(expect.arrayContaining(['lakes.dbf', 'lakes.shp', 'lakes.shx', 'world/v2.mbtiles']))
  })

  test('in mode notify contains one JSON file for each push', async () => {
    const notices = path.join(shelf, 'notices')
    mkdirSync(notices)
    const told = { code: 'told', kind: 'directory', path: notices, mode: 'notify' }
    expect(await post('/targets', told, 200)).toMatchObject(told)
    const { id } = await post<PushRecord>('/pushes', { target_code: 'told', basemap_code: 'world', version: 'v1' }, 202)
    expect(await ended('push-records', id)).toMatchObject({ status: 'succeeded' })
    expect(readdirSync(notices)).toEqual([`${id}.json`])
    expect(JSON.parse(readFileSync(path.join(notices, `${id}.json`), 'utf8'))).toMatchObject({
      event: 'basemap.version.pushed',
      record: { id },
      basemap: { code: 'world' },
    })
    rmSync(notices, { recursive: true })
    expect(await pushed('v1', 'told')).toMatchObject({ status: 'failed', message: 'the target directory is missing' })
  })

  test('that is a link out of the target, or no longer exists, fails and leaves nothing behind', async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'elsewhere-'))
    rmSync(path.join(shelf, 'world'), { recursive: true })
    symlinkSync(elsewhere, path.join(shelf, 'world'))
    expect(await pushed('v1')).toMatchObject({ status: 'failed', message: expect.stringContaining('link') })
    expect(readdirSync(elsewhere)).toEqual([])
    rmSync(path.join(shelf, 'world'))
    rmSync(elsewhere, { recursive: true })
    rmSync(path.join(home, 'maps/world/v2.mbtiles'))
    expect(await pushed('v2')).toMatchObject({ status: 'failed', message: expect.stringContaining('cannot be read') })
    expect(listing().filter((name) => name.includes('v2') || name.includes('.tmp'))).toEqual([])
  })
})

test('a push carries the trace of its request, and a callback that of its job', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const { url, received } = await receiver()
  await post('/targets', { code: 'traced', kind: 'http', url }, 200)
  const payload = { target_code: 'traced', vector_code: 'main' }
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
  const answer = await gateway.admin({ method: 'POST', url: `${ADMIN}/vector-pushes`, payload, headers })
  await ended('vector-push-records', answer.json().id)
  const jobId = randomUUID()
  const jobTrace = jobId.replaceAll('-', '')
  const kept = { traceparent: `00-${jobTrace}-00f067aa0ba902b7-00` }
  await gateway.ctx.sql.begin((tx) => insertCallback(tx, { jobId, url, destination: url, job: {}, trace: kept }))
  while (received.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  const traces = received.map((one) => one.headers.traceparent?.slice('00-'.length, '00-'.length + trace.length))
  expect(traces).toEqual([trace, jobTrace])
})
