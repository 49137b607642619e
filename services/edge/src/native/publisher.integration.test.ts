import { execFileSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToken, isTokenWellFormed, tokenDigest } from '@gateway/core/access/token-format.js'
import type { TokenUse } from '@gateway/store/tokens.js'
import { expect, test, vi } from 'vitest'
import {
  ask,
  askUntilTable,
  BODIES,
  issue,
  PACKED,
  running,
  TARGETS,
  usePublishingEdge,
  V1,
  warm,
  withToken,
  write,
} from '../testing/publishing-edge.js'
import { READER } from '../testing/running-edge.js'

usePublishingEdge()

test.each(TARGETS)('the table answers %s with exactly the header lines and bytes of JavaScript', async (target) => {
  running.edge.hotTiles.drop(target)
  const answers = await askUntilTable(target)
  expect(answers[0]?.by).toBe('javascript')
  const lines = (raw: string[]) => raw.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${raw[i + 1]}`] : [])).sort()
  for (const { by, raw, body } of answers) {
    expect(lines(raw), by).toEqual(lines(answers[0]?.raw ?? []))
    expect(body.equals(BODIES.v1), by).toBe(true)
  }
})

test('the table sends a large tile from its file, with exactly the header lines and bytes of JavaScript', async () => {
  // This opens its set, so that the table reads the next tile of the set from storage.
  await warm(V1)
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

/**
 * Writes a file to the disk and drops it from the page cache. The kernel keeps pages that another processor has just used, so it is asked until
 * none is left.
 */
async function dropFromMemory(file: string): Promise<void> {
  const resident = () =>
    execFileSync('fincore', ['--bytes', '--noheadings', '--output', 'RES', file], { encoding: 'utf8' })
  do {
    execFileSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'], { stdio: 'ignore' })
    await sleep(20)
  } while (resident().trim() !== '0')
}

test('a large tile whose file is not in memory is sent completely, by JavaScript unless the disk is quicker', async () => {
  const target = '/tiles/alps/v1/2/0/1.png'
  const body = randomBytes(300_000)
  const file = write('v1/2/0/1.png', body)
  await warm(target)
  await dropFromMemory(file)
  // The table does not ask the kernel again about pages that it found in memory less than a second ago.
  await sleep(1_100)
  const cold = await ask(target, withToken())
  expect(cold.body.equals(body)).toBe(true)
  // The query whether a page is in memory also starts to read it: after a fast disk, or a process that had to wait, the table finds it in memory.
  expect(['javascript', 'table']).toContain(cold.by)
  expect((await ask(target, withToken())).by).toBe('table')
})

test('a large tile whose file was cut ends its connection, is counted, and leaves the table', async () => {
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

/** Alternatives to the header: the token's place in the query, with a revision before or after it. */
const QUERIES = (token: string) =>
  [
    ['?v=3', withToken()],
    ['?v=3', { authorization: `Bearer ${token}` }],
    [`?v=3&token=${token}`, {}],
    [`?token=${token}&v=3`, {}],
    [`?access_token=${token}&v=17`, {}],
  ] as const

test('another revision in the query yields the same hot tile, with exactly the header lines of JavaScript', async () => {
  for (const [query, headers] of QUERIES(running.token)) {
    await warm(V1)
    const lean = await ask(V1, withToken())
    const revised = await ask(`${V1}${query}`, headers)
    expect([revised.by, revised.status, revised.body.equals(BODIES.v1)], query).toEqual(['table', 200, true])
    expect(revised.raw.toSorted()).toEqual(lean.raw.toSorted())
  }
})

test('two different tokens return 400 and a withdrawn one 401, with any other parameters', async () => {
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

test('the table sends a packed tile only to a client that accepts gzip', async () => {
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

test('a request that the table does not decide is answered as without a table', async () => {
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

test('the table answers every form of a request for a hot tile', async () => {
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

test('the table sends 304 to a client that has the tile, with exactly the header lines of JavaScript', async () => {
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

test('the table refuses an invalid token exactly like JavaScript, and counts it', async () => {
  await warm(V1)
  const { counters, tokens } = running.edge
  const [mistyped, unknown] = [`${createToken().slice(0, -1)}_`, createToken()]
  counters.beforeReading()
  const before = { requests: counters.requests, ...counters.authFailures }
  // An encoded name in the query keeps the request from the table.
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
  // The token is issued after all, so cached results about it are dropped.
  const digest = tokenDigest(unknown).toString('hex')
  running.storedTokens.set(digest, { ...READER, id: digest })
  tokens.invalidate(digest)
  expect((await ask(V1, withToken(unknown))).status).toBe(200)
  running.storedTokens.delete(digest)
  tokens.invalidate(digest)
})

test('JavaScript answers addresses that are not a tile even without a token', async () => {
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

test('every request counts once, by any tier', async () => {
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

test('metrics distinguish responses from memory and from the page cache, with their times', async () => {
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
  // One response in 64 is timed.
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

test('a use that only the table saw is recorded', async () => {
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

test('a loaded tile of a storage that cannot be read without JavaScript is kept while there is room', async () => {
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
