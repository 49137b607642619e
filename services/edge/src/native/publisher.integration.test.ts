import { execFileSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createToken, isTokenWellFormed, tokenDigest } from '@gateway/access/token-format.js'
import type { Change } from '@gateway/contracts/change.js'
import type { TokenUse } from '@gateway/store/tokens.js'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { EMPTY_CATALOG } from '../sync/catalog.js'
import { Follower } from '../sync/follower.js'
import { freePort } from '../testing/free-port.js'
import { memoryReader } from '../testing/memory-reader.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'
import { storedBasemap, storedVersion } from '../testing/stored-rows.js'
import { RECHECK_MS } from '../tiles/tile-cache.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-native-'))
const BODIES = { v1: randomBytes(5_000), v2: randomBytes(7_000), large: randomBytes(60_000) }
const PACKED = gzipSync(Buffer.from(`\x1a${'layer '.repeat(3_000)}`))
const TARGETS = ['/tiles/alps/v1/0/0/0.png', '/tiles/alps/current/0/0/0.png', '/tiles/alps/0/0/0.png']
const [V1, CURRENT] = TARGETS as [string, string]

let running: RunningEdge
let follower: Follower
let agent: http.Agent
let defaultVersion = 'v1'
const changes: Change[] = []
/** The revision that was applied, by when it was announced: what answers an operator's disable call. */
const announced: number[] = []

function write(relativePath: string, data: Uint8Array): string {
  const file = path.join(home, relativePath)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(`${file}.new`, data)
  fs.renameSync(`${file}.new`, file)
  return file
}

const state = () => ({ revision: changes.length, mark: `mark ${changes.length}`, epoch: '' })

const store = memoryReader({
  state,
  changes: ({ revision }) => ({ covered: true, changes: changes.slice(revision), state: state() }),
  basemaps: () => {
    const versions = ['v1', 'v2'].map((version) => storedVersion(version, { path: path.join(home, version) }))
    const packed = storedVersion('v1', { path: path.join(home, 'packed'), format: 'pbf', extension: 'pbf' })
    return [
      storedBasemap('alps', versions, { sourcePath: home, defaultVersion }),
      storedBasemap('packed', [packed], { sourcePath: home }),
    ]
  },
})

/** What the bus says of a commit. */
const saying = (change: Change) => ({
  revision: change.revision,
  changes: [change],
  mark: `mark ${change.revision}`,
  previousMark: `mark ${change.revision - 1}`,
})

function commit(kind: Change['kind'], key: string): Change {
  const change = { revision: changes.length + 1, kind, key }
  changes.push(change)
  return change
}

beforeAll(async () => {
  for (const version of ['v1', 'v2'] as const) write(`${version}/0/0/0.png`, BODIES[version])
  write('v1/1/0/0.png', BODIES.large)
  write('packed/0/0/0.pbf', PACKED)
  running = await runEdge({
    port: await freePort(),
    catalog: EMPTY_CATALOG,
    dataDir: home,
    controlPlane: 'http://[::1]:1',
  })
  const { edge } = running
  follower = new Follower(
    store,
    edge.tokens,
    () => performance.now(),
    () => announced.push(follower.appliedRevision),
    (catalog) => edge.native.follow(catalog),
  )
  await follower.catchUp()
  const freshness = {
    loaded: true,
    trustedUntilMs: Number.POSITIVE_INFINITY,
    get catalog() {
      return follower.catalog
    },
  }
  Object.assign(edge, { freshness })
  while (edge.sender.reason === 'not attached yet') await new Promise(setImmediate)
  expect(edge.sender.reason).toBe('its self-test passed')
})
beforeEach(() => {
  // Tiles and sets of an earlier test would be due for a look by JavaScript in the middle of this one, some 10 s after they were put.
  for (const cache of [running.edge.native, running.edge.tileCache]) cache.follow(EMPTY_CATALOG)
  agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  return () => agent.destroy()
})
afterAll(async () => {
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

function ask(target: string, headers: http.OutgoingHttpHeaders = {}, method = 'GET') {
  const { counters, native } = running.edge
  counters.beforeReading()
  const before = { answers: native.answers, cold: counters.nativeColdTiles }
  return new Promise<{ status: number; raw: string[]; headers: http.IncomingHttpHeaders; body: Buffer; by: string }>(
    (resolve, reject) => {
      const req = http.request(`${running.url}${target}`, { agent, method, headers }, async (res) => {
        const parts: Buffer[] = []
        for await (const part of res) parts.push(part as Buffer)
        counters.beforeReading()
        const fromStorage = counters.nativeColdTiles > before.cold
        const by = native.answers === before.answers ? 'javascript' : fromStorage ? 'storage' : 'table'
        const raw = res.rawHeaders.map((text, i, all) => (all[i - 1] === 'Date' ? '' : text))
        resolve({ status: res.statusCode ?? 0, raw, headers: res.headers, body: Buffer.concat(parts), by })
      })
      req.once('error', reject)
      req.end()
    },
  )
}

const withToken = (token = running.token): http.OutgoingHttpHeaders => ({ 'x-access-token': token })

/** Asks until the table answers: first JavaScript does, then the tile is read without it, and what was asked for again is kept. */
async function askUntilTable(target: string, headers = withToken()) {
  const answers = [await ask(target, headers)]
  while (answers.at(-1)?.by !== 'table') answers.push(await ask(target, headers))
  return answers
}

async function warm(target: string, headers = withToken()): Promise<void> {
  await askUntilTable(target, headers)
}

function issue(more: Partial<typeof READER> = {}): { token: string; digest: string } {
  const token = createToken()
  const digest = tokenDigest(token).toString('hex')
  running.storedTokens.set(digest, { ...READER, id: digest, ...more })
  return { token, digest }
}

test.each(TARGETS)('the table answers %s with the very header lines and bytes of JavaScript', async (target) => {
  running.edge.tileCache.drop(target)
  const answers = await askUntilTable(target)
  expect(answers[0]?.by).toBe('javascript')
  const lines = (raw: string[]) => raw.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${raw[i + 1]}`] : [])).sort()
  for (const { by, raw, body } of answers) {
    expect(lines(raw), by).toEqual(lines(answers[0]?.raw ?? []))
    expect(body.equals(BODIES.v1), by).toBe(true)
  }
})

test('a large tile is sent from its file by the table, with the very header lines and bytes of JavaScript', async () => {
  const target = '/tiles/alps/v1/2/0/0.png'
  const body = randomBytes(300_000)
  write('v1/2/0/0.png', body)
  const answers = await askUntilTable(target)
  expect(answers.map(({ by }) => by)).toContain('storage')
  const known = { ...withToken(), 'if-none-match': answers[0]?.headers.etag }
  const viaJavaScript = await ask(`${target}?%61=b`, withToken())
  expect(viaJavaScript.by).toBe('javascript')
  for (const answer of answers) {
    expect(answer.raw.toSorted(), answer.by).toEqual(viaJavaScript.raw.toSorted())
    expect(answer.body.equals(body), answer.by).toBe(true)
  }
  const { by, status } = await ask(target, known)
  expect([by, status]).toEqual(['table', 304])
})

test('a large tile whose file is not in memory is left to JavaScript, which reads it in a thread', async () => {
  const target = '/tiles/alps/v1/2/0/1.png'
  const body = randomBytes(300_000)
  const file = write('v1/2/0/1.png', body)
  await warm(target)
  // Has the file written, and dropped from memory.
  execFileSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'], { stdio: 'ignore' })
  // The table does not ask the kernel again about what it found in memory less than 50 ms ago.
  await sleep(100)
  const cold = await ask(target, withToken())
  expect([cold.by, cold.body.equals(body)]).toEqual(['javascript', true])
  expect((await ask(target, withToken())).by).toBe('table')
})

test('a large tile whose file has become shorter cuts its connection, counts, and leaves the table', async () => {
  const target = '/tiles/alps/v1/2/0/2.png'
  const file = write('v1/2/0/2.png', randomBytes(300_000))
  await warm(target)
  const { counters } = running.edge
  counters.beforeReading()
  const before = counters.truncatedFiles
  fs.truncateSync(file, 1_000)
  const headers = { 'x-access-token': running.token }
  await expect(fetch(running.url + target, { headers }).then((answer) => answer.arrayBuffer())).rejects.toThrow()
  counters.beforeReading()
  expect(counters.truncatedFiles).toBe(before + 1)
  const again = await ask(target, withToken())
  expect(again.body.length).toBe(1_000)
  expect(again.by).not.toBe('table')
})

/** What stands beside or instead of the header: the token's place in the query, a revision before or behind it. */
const QUERIES = (token: string) =>
  [
    ['?v=3', withToken()],
    ['?v=3', { authorization: `Bearer ${token}` }],
    [`?v=3&token=${token}`, {}],
    [`?token=${token}&v=3`, {}],
    [`?access_token=${token}&v=17`, {}],
  ] as const

test('a tile of another revision in the query is the same hot tile, in the very header lines of JavaScript', async () => {
  for (const [query, headers] of QUERIES(running.token)) {
    await warm(V1)
    const lean = await ask(V1, withToken())
    const revised = await ask(`${V1}${query}`, headers)
    expect([revised.by, revised.status, revised.body.equals(BODIES.v1)], query).toEqual(['table', 200, true])
    expect(revised.raw.toSorted()).toEqual(lean.raw.toSorted())
  }
})

test('two different tokens are 400 and a withdrawn one 401, whatever stands in the query beside them', async () => {
  await warm(V1)
  const { token: other } = issue()
  for (const query of [
    `?v=3&token=${other}&access_token=${running.token}`,
    `?token=${other}&v=3&token=${running.token}`,
  ]) {
    expect((await ask(`${V1}${query}`)).status, query).toBe(400)
  }
  expect((await ask(`${V1}?v=3&token=${other}`, withToken())).status).toBe(400)
  expect((await ask(`${V1}?v=3&token=${createToken()}`)).status).toBe(401)
  expect((await ask(`${V1}?v=3`)).status).toBe(401)
})

test('a packed tile goes out by the table only to a client that accepts gzip', async () => {
  const target = '/tiles/packed/0/0/0.pbf'
  const gzip = { ...withToken(), 'accept-encoding': 'gzip, br' }
  await warm(target, gzip)
  const packed = await ask(target, gzip)
  expect([packed.by, packed.headers['content-encoding'], packed.headers.vary]).toEqual([
    'table',
    'gzip',
    'Authorization, X-Access-Token, Accept-Encoding',
  ])
  expect(packed.body.equals(PACKED)).toBe(true)
  const plain = await ask(target, { ...withToken(), 'accept-encoding': 'identity' })
  expect([plain.by, plain.headers['content-encoding']]).toEqual(['javascript', undefined])
})

test('what the table does not decide falls through, and is answered as without a table', async () => {
  await warm(V1)
  const { token: other } = issue()
  const answers = [
    await ask(V1, { ...withToken(), 'if-match': '*' }),
    await ask(V1, { ...withToken(), 'if-modified-since': 'yesterday' }),
    await ask(V1, { authorization: `Bearer  ${running.token}` }),
    await ask(`${V1}?token=${other}`, withToken()),
    await ask(V1, { authorization: 'Basic dTpw' }),
    await ask(V1, withToken(issue({ basemaps: new Set(['packed']) }).token)),
    await ask(V1, withToken(issue({ scopes: new Set(['slice']) }).token)),
  ]
  expect(answers.map(({ by }) => by)).toEqual(answers.map(() => 'javascript'))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 401, 403, 403])
  expect(answers.map(({ body }) => body.length).slice(0, 3)).toEqual([5_000, 5_000, 5_000])
})

test('a hot tile is answered by the table in whatever form it is asked for', async () => {
  await warm(V1)
  const { token } = running
  const { etag = '', 'last-modified': modified = '' } = (await ask(V1, withToken())).headers
  const basic = { authorization: `Basic ${Buffer.from(`user:${token}`).toString('base64')}` }
  const answers = [
    await ask(V1, withToken(), 'HEAD'),
    await ask(V1, { ...withToken(), 'if-none-match': `"other", ${etag}` }),
    await ask(V1, { ...withToken(), 'if-modified-since': modified }, 'HEAD'),
    await ask(V1, { ...withToken(), 'if-modified-since': new Date(0).toUTCString() }),
    await ask(V1, { ...withToken(), range: 'bytes=0-' }),
    await ask(V1, { ...withToken(), connection: 'close' }),
    await ask(V1, basic),
    await ask(`${V1}?v=3&token=${token}`, { ...withToken(), ...basic }),
  ]
  expect(answers.map(({ by }) => by)).toEqual(answers.map(() => 'table'))
  expect(answers.map(({ status }) => status)).toEqual([200, 304, 304, 200, 200, 200, 200, 200])
  expect(answers.map(({ body }) => body.length)).toEqual([0, 0, 0, 5_000, 5_000, 5_000, 5_000, 5_000])
})

test('a client that has the tile is told so by the table, in the very header lines of JavaScript', async () => {
  await warm(V1)
  const { etag = '' } = (await ask(V1, withToken())).headers
  const viaTable = await ask(V1, {
    ...withToken(),
    'if-none-match': `W/${etag}`,
    'if-modified-since': new Date(0).toUTCString(),
  })
  const viaJavaScript = await ask(V1, { ...withToken(), 'if-none-match': `"other", ${etag}`, 'if-match': '*' })
  expect([viaTable.by, viaJavaScript.by]).toEqual(['table', 'javascript'])
  expect([viaTable.status, viaTable.body.length]).toEqual([304, 0])
  expect(viaTable.raw.toSorted()).toEqual(viaJavaScript.raw.toSorted())
  const changed = await ask(V1, { ...withToken(), 'if-none-match': '"other"' })
  expect([changed.by, changed.status, changed.body.equals(BODIES.v1)]).toEqual(['table', 200, true])
  for (const odd of ['*', '"', 'W/', 'W/"', `${etag}x`, etag.slice(0, -1), etag.slice(1)]) {
    const { by, status } = await ask(V1, { ...withToken(), 'if-none-match': odd })
    const matches = odd === '*' || odd === `${etag}x`
    expect([by, status], odd).toEqual(['table', matches ? 304 : 200])
  }
})

test('a tile in use stays in the table for as long as its file is the same, and is not read again', async () => {
  await warm(V1)
  const by: Record<string, number> = { javascript: 0, storage: 0, table: 0 }
  const until = Date.now() + 2 * RECHECK_MS
  while (Date.now() < until) {
    const answer = await ask(V1, withToken())
    by[answer.by] = (by[answer.by] ?? 0) + 1
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  // Where the set of tiles it belongs to is due, JavaScript looks at it again.
  expect((by.javascript ?? 0) + (by.storage ?? 0)).toBeLessThanOrEqual(4)
  expect(by.table).toBeGreaterThan(100)
})

test('a token that is no token is refused by the table, in the very words of JavaScript, and counted', async () => {
  await warm(V1)
  const { counters, tokens } = running.edge
  const [mistyped, unknown] = [`${createToken().slice(0, -1)}_`, createToken()]
  counters.beforeReading()
  const before = { requests: counters.requests, ...counters.authFailures }
  // An encoded name in the query keeps the table away.
  const slow = [
    await ask(`${V1}?%61=b`),
    await ask(`${V1}?%61=b`, withToken(mistyped)),
    await ask(V1, withToken(unknown)),
  ]
  await ask(V1, withToken(unknown))
  const quick = [
    await ask(V1),
    await ask(V1, { authorization: `Bearer ${mistyped}` }),
    await ask(`${V1}?access_token=${unknown}`),
  ]
  expect(slow.map(({ by }) => by)).toEqual(['javascript', 'javascript', 'javascript'])
  expect(quick.map(({ by, status }) => [by, status])).toEqual(quick.map(() => ['table', 401]))
  expect(quick.map(({ raw, body }) => [raw.toSorted(), String(body)])).toEqual(
    slow.map(({ raw, body }) => [raw.toSorted(), String(body)]),
  )
  counters.beforeReading()
  expect(counters.requests - before.requests).toBe(7)
  expect(counters.authFailures.token_missing - before.token_missing).toBe(2)
  expect(counters.authFailures.token_malformed - before.token_malformed).toBe(2)
  expect(counters.authFailures.token_unknown - before.token_unknown).toBe(3)
  // It is issued after all: what was known of it is forgotten.
  const digest = tokenDigest(unknown).toString('hex')
  running.storedTokens.set(digest, { ...READER, id: digest })
  tokens.invalidate(digest)
  expect((await ask(V1, withToken(unknown))).status).toBe(200)
  running.storedTokens.delete(digest)
  tokens.invalidate(digest)
})

test('addresses that are no tile are answered by JavaScript also to who has no token', async () => {
  for (const [target, status] of [
    ['/tiles/alps/v1/9/9/9.png', 401],
    ['/tiles/nobody/9/9/9.png', 401],
    ['/tiles/alps/v1/9/9/%39.png', 401],
    ['/tiles/alps/v1/%zz/9/9.png', 401],
    ['/tiles/alps/tilejson.json', 401],
    ['/tiles/alps/v1/9', 404],
    ['/tiles/alps//9/9/9.png', 404],
    ['/tiles/alps/v1/9/9/9.png/', 404],
    ['/tiles/a/b/c/d/e/f', 404],
  ] as const) {
    const { by, status: found } = await ask(target)
    const isPlainTile = /^\/tiles\/\w+(\/\w+){2,3}\/9\.png$/.test(target)
    expect([found, by], target).toEqual([status, isPlainTile ? 'table' : 'javascript'])
  }
})

test('table and JavaScript agree on which texts are tokens', async () => {
  await warm(V1)
  const { authFailures } = running.edge.counters
  const texts = Array.from({ length: 40 }, () => createToken()).flatMap((token) => {
    const at = 4 + randomInt(38)
    const mutated = `${token.slice(0, at)}${token[at] === 'a' ? 'b' : 'a'}${token.slice(at + 1)}`
    return [token, mutated, token.slice(1), `${token}0`, token.replace('bmp_', 'bmP_')]
  })
  for (const text of texts) {
    const wellFormed = isTokenWellFormed(text)
    running.edge.counters.beforeReading()
    const before = { ...authFailures }
    const { status, by } = await ask(V1, withToken(text))
    running.edge.counters.beforeReading()
    const reason = wellFormed ? 'token_unknown' : 'token_malformed'
    expect([status, by, authFailures[reason] - before[reason]], text).toEqual([
      401,
      wellFormed ? 'javascript' : 'table',
      1,
    ])
  }
})

test('a disabled token is refused although the table knew it, when the news is announced as applied', async () => {
  const { token, digest } = issue()
  await warm(V1, withToken(token))
  running.storedTokens.set(digest, { ...READER, id: digest, disabled: true })
  const change = commit('token', digest)
  const before = announced.length
  expect(follower.hear(saying(change))).toBe(true)
  expect(announced.slice(before)).toEqual([change.revision])
  const refused = await ask(V1, withToken(token))
  expect([refused.by, refused.status]).toEqual(['javascript', 401])
  await warm(V1)
})

test('a change of everything forgets all tokens, and the tiles that have changed', async () => {
  const { token, digest } = issue()
  await warm(V1, withToken(token))
  await warm(CURRENT)
  running.storedTokens.delete(digest)
  const change = commit('all', '*')
  follower.hear(saying(change))
  expect((await ask(V1, withToken(token))).status).toBe(401)
  await follower.catchUp()
  // By JavaScript, which must ask for the token; from then on by the table, which has the tile still.
  expect([(await ask(V1, withToken())).by, (await ask(V1, withToken())).by]).toEqual(['javascript', 'table'])
  defaultVersion = 'v2'
  commit('all', '*')
  await follower.catchUp()
  const bodies = [await ask(CURRENT, withToken()), await ask(CURRENT, withToken())].map(({ body }) => body)
  expect(bodies.every((body) => body.equals(BODIES.v2))).toBe(true)
  defaultVersion = 'v1'
  commit('all', '*')
  await follower.catchUp()
})

test('a default switch changes what `current` and the short address answer, from the first request on', async () => {
  for (const target of TARGETS) await warm(target)
  for (const version of ['v2', 'v1'] as const) {
    defaultVersion = version
    commit('basemap', 'alps')
    await follower.catchUp()
    for (const target of TARGETS.slice(1)) {
      const first = await ask(target, withToken())
      expect([first.by, first.body.equals(BODIES[version])], target).toEqual(['javascript', true])
      await warm(target)
      expect((await ask(target, withToken())).body.equals(BODIES[version]), target).toBe(true)
    }
  }
})

test('a change of one basemap drops its tiles from both caches, and those of no other', async () => {
  const packed = '/tiles/packed/0/0/0.pbf'
  const gzip = { ...withToken(), 'accept-encoding': 'gzip' }
  const { tileCache } = running.edge
  for (const target of [V1, packed]) {
    await warm(target, gzip)
    // Asked in a form that only JavaScript answers, it is kept there as well.
    for (let i = 0; i < 2; i++) await ask(`${target}?%61=b`, gzip)
    expect(tileCache.get(target, follower.catalog, performance.now())).toBeDefined()
  }
  defaultVersion = 'v2'
  commit('basemap', 'alps')
  await follower.catchUp()
  tileCache.follow(follower.catalog)
  const kept = [V1, packed].map((target) => tileCache.get(target, follower.catalog, performance.now()) !== undefined)
  expect(kept).toEqual([false, true])
  expect([(await ask(V1, gzip)).by, (await ask(packed, gzip)).by]).toEqual(['javascript', 'table'])
  defaultVersion = 'v1'
  commit('basemap', 'alps')
  await follower.catchUp()
})

test.each([
  ['its own basemap', 'alps', false],
  ['another basemap', 'packed', true],
] as const)('a tile whose load began before a change of %s is kept: %s', async (_name, changed, isKept) => {
  const { edge } = running
  const target = '/tiles/alps/current/3/0/0.png'
  write('v1/3/0/0.png', BODIES.v1)
  edge.tileCache.drop(target)
  const now = vi.spyOn(edge.tiles, 'tileIfCached').mockReturnValueOnce(undefined)
  const release = new Promise<() => void>((resolve) => {
    const { load: start } = edge.tiles
    vi.spyOn(edge.tiles, 'load').mockImplementationOnce((...load) => resolve(() => start.apply(edge.tiles, load)))
  })
  const answer = ask(target, withToken())
  const load = await release
  defaultVersion = changed === 'alps' ? 'v2' : 'v1'
  commit('basemap', changed)
  await follower.catchUp()
  load()
  // What was asked for was the tile of then.
  expect((await answer).body.equals(BODIES.v1)).toBe(true)
  now.mockRestore()
  const next = await ask(target, withToken())
  expect([next.by, next.status]).toEqual(isKept ? ['storage', 200] : ['javascript', 404])
  defaultVersion = 'v1'
  commit('basemap', 'alps')
  await follower.catchUp()
})

test('twenty thousand tokens in use are honoured side by side', async () => {
  const { token, digest } = issue()
  await warm(V1, withToken(token))
  const others = Array.from({ length: 20_000 }, () => createToken())
  for (const other of others) running.edge.native.noteToken(other, READER)
  for (const known of [token, others[0] as string, others.at(-1) as string]) {
    expect((await ask(V1, withToken(known))).by).toBe('table')
  }
  for (const other of others) running.edge.native.forgetToken(other)
  running.storedTokens.delete(digest)
  running.edge.tokens.invalidate(digest)
  expect((await ask(V1, withToken(token))).status).toBe(401)
})

test('a change that concerns no tile leaves the tiles in the table', async () => {
  await warm(V1)
  const alps = follower.catalog.basemaps.get('alps')
  commit('vector', 'roads')
  await follower.catchUp()
  expect(follower.catalog.basemaps.get('alps')).toBe(alps)
  expect((await ask(V1, withToken())).by).toBe('table')
})

test('a token that expires is refused from that moment on', async () => {
  const expiresAtMs = Date.now() + 1_500
  const { token } = issue({ expiresAtMs })
  await warm(V1, withToken(token))
  for (;;) {
    const sentAt = Date.now()
    const { status, by } = await ask(V1, withToken(token))
    if (sentAt >= expiresAtMs) {
      expect([status, by]).toEqual([401, 'javascript'])
      return
    }
    if (Date.now() < expiresAtMs) expect(status).toBe(200)
  }
})

test('what counts as trusted ends in the table when it ends in JavaScript', async () => {
  await warm(V1)
  const { edge } = running
  const { freshness } = edge
  const trustedUntilMs = performance.now() + 1_500
  Object.assign(edge, { freshness: { loaded: true, trustedUntilMs, catalog: follower.catalog } })
  try {
    for (;;) {
      const sentAt = performance.now()
      const { status, by } = await ask(V1, withToken())
      if (sentAt > trustedUntilMs) {
        expect([status, by]).toEqual([503, 'javascript'])
        return
      }
      // The table's clock ticks more coarsely, and it stops a tick too early rather than too late.
      if (performance.now() < trustedUntilMs - 20) expect([status, by]).toEqual([200, 'table'])
    }
  } finally {
    Object.assign(edge, { freshness })
  }
})

test('every request counts once, whoever answered it', async () => {
  await warm(V1)
  const { counters } = running.edge
  counters.beforeReading()
  const before = { ...counters }
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(V1, withToken())))
  expect(answers.every(({ body }) => body.equals(BODIES.v1))).toBe(true)
  expect(running.edge.native.answers).toBeGreaterThan(0)
  expect(counters.traffic().requests).toBe(before.requests + 200)
  expect(counters.tiles).toBe(before.tiles + 200)
  expect(counters.tokenHits).toBe(before.tokenHits + 200)
  expect(counters.hotTileHits).toBeGreaterThanOrEqual(before.hotTileHits + 199)
  expect(counters.bytesSent).toBe(before.bytesSent + 200 * BODIES.v1.length)
})

test('metrics tell answers from memory and from the page cache apart, and how long each took', async () => {
  const { edge } = running
  const valuesOf = async (name: string, metricName = name) => {
    const metric = (await edge.metrics.report()).find((one) => one.name === name)
    const values = (metric?.values ?? []) as { metricName?: string; labels: { source?: string }; value: number }[]
    const ofIt = values.filter((one) => (one.metricName ?? metricName) === metricName)
    return Object.fromEntries(ofIt.map(({ labels, value }) => [labels.source, value]))
  }
  const durations = () => valuesOf('gateway_tile_duration_seconds', 'gateway_tile_duration_seconds_count')
  await warm(V1)
  const answers = await valuesOf('gateway_tile_answers_total')
  const timed = await durations()
  // One in 64 is timed.
  for (let i = 0; i < 128; i++) expect((await ask(V1, withToken())).by).toBe('table')
  for (let x = 0; x < 128; x++) {
    const target = `/tiles/alps/v1/8/${x}/0.png`
    write(`v1/8/${x}/0.png`, BODIES.v1)
    expect((await ask(target, withToken())).status).toBe(200)
  }
  const { memory, page_cache } = await valuesOf('gateway_tile_answers_total')
  expect([memory, page_cache]).toEqual([(answers.memory ?? 0) + 128, (answers.page_cache ?? 0) + 128])
  const after = await durations()
  expect(after.memory).toBeGreaterThan(timed.memory ?? 0)
  expect(after.page_cache).toBeGreaterThan(timed.page_cache ?? 0)
})

test('a use that the table alone saw is noted', async () => {
  const { token, digest } = issue()
  await warm(V1, withToken(token))
  const since = Date.now()
  while ((await ask(V1, withToken(token))).by !== 'table');
  running.edge.native.noteUses()
  let used: ReadonlyMap<string, TokenUse> = new Map()
  await running.usage.flush(async (batch) => {
    used = batch
  }, Date.now())
  expect(used.get(digest)?.at.getTime()).toBeGreaterThanOrEqual(since)
})

test('a tile file that is replaced is seen within the promised time', async () => {
  await warm(CURRENT)
  const replacedAt = performance.now()
  const replaced = randomBytes(6_000)
  write('v1/0/0/0.png', replaced)
  const by = new Set<string>()
  for (let seen = false; !seen; ) {
    const sentAt = performance.now()
    const answer = await ask(CURRENT, withToken())
    by.add(answer.by)
    seen = answer.body.equals(replaced)
    if (!seen) expect(sentAt - replacedAt).toBeLessThan(RECHECK_MS)
  }
  expect(by).toContain('table')
  await warm(CURRENT)
  expect((await ask(CURRENT, withToken())).body.equals(replaced)).toBe(true)
})

test('a tile of a storage that cannot be read without JavaScript is kept when it was loaded, while there is room', async () => {
  const opened = vi.spyOn(running.edge.tiles, 'opened').mockReturnValue(undefined)
  const gzip = { ...withToken(), 'accept-encoding': 'gzip' }
  const target = '/tiles/packed/current/0/0/0.pbf'
  const answers = [await ask(target, gzip), await ask(target, gzip)]
  opened.mockRestore()
  expect(answers.map(({ by, status }) => [by, status])).toEqual([
    ['javascript', 200],
    ['table', 200],
  ])
})

test('a scan over more tiles than the table holds evicts none that is in use, and has none kept', {
  timeout: 180_000,
}, async () => {
  await warm(V1)
  const { native } = running.edge
  const targets = Array.from({ length: 1_800 }, (_, x) => `/tiles/alps/v1/11/${x}/0.png`)
  for (const target of targets) write(target.slice('/tiles/alps/'.length), BODIES.large)
  const before = native.bytes
  for (const target of targets) expect((await ask(target, withToken())).status).toBe(200)
  expect(native.bytes).toBeLessThanOrEqual(before)
  expect((await ask(V1, withToken())).by).toBe('table')
  // Asked for again they fill it, and no more than that.
  for (let i = 0; i < 2; i++) for (const target of targets) await ask(target, withToken())
  expect(native.bytes).toBeGreaterThan(0.9 * native.capacityBytes)
  expect(native.bytes).toBeLessThanOrEqual(native.capacityBytes)
  expect((await ask(targets[0] as string, withToken())).by).toBe('table')
})

test('a draining process answers what it had begun, and every later request with Connection: close', async () => {
  const target = '/tiles/alps/v1/1/0/0.png'
  await warm(target)
  const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${running.token}\r\n\r\n`
  const { port } = new URL(running.url)
  const slow = net.connect(Number(port), '127.0.0.1')
  const late = net.connect(Number(port), '127.0.0.1')
  await Promise.all([slow, late].map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  slow.pause()
  const before = running.edge.native.answers
  slow.write(request.repeat(400))
  let answers = before
  do {
    answers = running.edge.native.answers
    await new Promise((resolve) => setTimeout(resolve, 50))
  } while (answers === before || running.edge.native.answers !== answers)
  expect(answers - before).toBeLessThan(400)
  let drained = false
  const draining = running.server.drain(20).then(() => {
    drained = true
  })
  late.write(request)
  const parts: Buffer[] = []
  for await (const part of late) parts.push(part as Buffer)
  const last = Buffer.concat(parts)
  expect(last.toString('latin1')).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n/)
  expect(last.subarray(-BODIES.large.length).equals(BODIES.large)).toBe(true)
  // Longer than a server stays that has nothing under way.
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(drained).toBe(false)
  const received: Buffer[] = []
  for await (const part of slow) received.push(part as Buffer)
  await draining
  // All that the table had begun, and one more by JavaScript, which closed.
  const all = Buffer.concat(received)
  const heads = all.toString('latin1').split('HTTP/1.1 200 OK\r\n').length - 1
  expect(heads).toBe(answers - before + 1)
  expect(all.subarray(-BODIES.large.length).equals(BODIES.large)).toBe(true)
})
