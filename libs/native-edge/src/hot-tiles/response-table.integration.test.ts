import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { request, ServerProcess, sha256 } from '../transfer/testing/server-process.js'
import type { RawClient } from '../uws/raw-client.js'

const BODY = 'tile '.repeat(4_000)
const TARGET = '/tiles/alps/v1/10/5/7.pbf'
const TOKEN = 'bmp_granted'
const TILE = {
  target: TARGET,
  headers: [['Content-Type', 'application/vnd.mapbox-vector-tile']],
  body: BODY,
  code: 'alps',
}
const FAR = 4_102_444_800_000
const MODIFIED = 'Sun, 06 Nov 1994 08:49:37 GMT'
const asBasic = (credentials: string) => `Authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`

let server: ServerProcess
let client: RawClient
beforeAll(async () => {
  server = await ServerProcess.start({ tiers: ['native'] })
})
beforeEach(async () => {
  client = await server.connect()
  await call(['open', 10_000_000], ['clear'], ['trustTokensUntil', FAR])
  await call(['putTile', TILE], ['putToken', TOKEN, { basemaps: ['andes', 'alps'], vectors: [] }, null])
  return () => client.close()
})
afterAll(() => server.stop())

const call = (...calls: [method: string, ...args: unknown[]][]) => callOf(server, ...calls)

async function callOf({ port }: ServerProcess, ...calls: [method: string, ...args: unknown[]][]): Promise<unknown[]> {
  const response = await fetch(`http://127.0.0.1:${port}/table`, {
    method: 'POST',
    body: JSON.stringify(calls),
    headers: { connection: 'close' },
  })
  return (await response.json()) as unknown[]
}

async function counts() {
  const [result] = await call(['counts'])
  return result as { answers: number; bodyBytes: number; tiles: number; tileBytes: number; tokens: number }
}

/** Returns who sent the response: the table, with the right bytes, or the handler. */
async function answered(by = client, method = 'GET'): Promise<'table' | 'handler'> {
  const { headers, sha256: digest } = await by.response(method !== 'HEAD')
  if (headers.get('x-answered-by') === 'javascript') return 'handler'
  expect(digest).toBe(sha256(Buffer.from(BODY)))
  expect(headers.get('content-type')).toBe('application/vnd.mapbox-vector-tile')
  expect(headers.get('content-length')).toBe(String(BODY.length))
  expect(Math.abs(Date.now() - Date.parse(headers.get('date') ?? ''))).toBeLessThan(60_000)
  return 'table'
}

async function ask(path: string, headers = '', method = 'GET'): Promise<'table' | 'handler'> {
  client.write(request(path, headers, method))
  return answered(client, method)
}

describe('the response table', () => {
  it.each([
    ['Authorization', TARGET, `Authorization: Bearer ${TOKEN}\r\n`],
    ['Authorization in lower case', TARGET, `authorization: bearer ${TOKEN}\r\n`],
    ['X-Access-Token', TARGET, `X-Access-Token: ${TOKEN}\r\n`],
    ['?token=', `${TARGET}?token=${TOKEN}`, ''],
    ['?access_token=', `${TARGET}?access_token=${TOKEN}`, ''],
    ['a header, and a revision in the query', `${TARGET}?v=3`, `X-Access-Token: ${TOKEN}\r\n`],
    ['the query, before a revision', `${TARGET}?token=${TOKEN}&v=3`, ''],
    [
      'the query, after a revision and a text that resembles a token',
      `${TARGET}?v=%33&x=token=&mytoken=1&token=${TOKEN}&`,
      '',
    ],
    ['the password of Basic', TARGET, asBasic(`a user:${TOKEN}`)],
    ['the query, in addition to another password', `${TARGET}?token=${TOKEN}`, asBasic('user:secret')],
    ['several places, if it is the same', `${TARGET}?token=${TOKEN}`, `X-Access-Token: ${TOKEN}\r\n`.repeat(2)],
    ['both names in the query', `${TARGET}?token=${TOKEN}&access_token=${TOKEN}`, ''],
    ['the query, in addition to an empty one', `${TARGET}?token=&access_token=${TOKEN}`, ''],
    [
      'fields that change nothing',
      `${TARGET}?token=${TOKEN}`,
      'Connection: keep-alive, TE\r\nCookie: a=b\r\nOrigin: x\r\nRange: bytes=0-\r\n',
    ],
  ])('answers a token by %s', async (_name, path, headers) => {
    const before = await counts()
    expect(await ask(path, headers)).toBe('table')
    expect(await counts()).toMatchObject({
      answers: before.answers + 1,
      bodyBytes: before.bodyBytes + BODY.length,
    })
  })

  it.each([
    ['no token', TARGET, ''],
    ['an unknown token', `${TARGET}?token=${TOKEN}x`, ''],
    ['two tokens', `${TARGET}?token=${TOKEN}`, `X-Access-Token: ${TOKEN}x\r\n`],
    ['two tokens in the query', `${TARGET}?token=${TOKEN}&access_token=${TOKEN}x`, ''],
    ['a token and another as password', `${TARGET}?token=${TOKEN}`, asBasic(`user:${TOKEN}x`)],
    ['only a password', TARGET, asBasic('user:secret')],
    ['invalid base64', TARGET, asBasic(`user:${TOKEN}`).replace('=', '-')],
    ['another scheme', `${TARGET}?token=${TOKEN}`, 'Authorization: Digest YTpi\r\n'],
    ['an encoded name in the query', `${TARGET}?%74oken=x`, `X-Access-Token: ${TOKEN}\r\n`],
    ['a blank in a name in the query', `${TARGET}?a+b=1&token=${TOKEN}`, ''],
    ['a very long query', `${TARGET}?token=${TOKEN}&v=${'3'.repeat(600)}`, ''],
    ['a second question mark', `${TARGET}??token=${TOKEN}`, ''],
    ['an encoded query', `${TARGET}?token=%62mp_granted`, ''],
    ['another path', `/tiles/alps/v1/10/5/8.pbf?token=${TOKEN}`, ''],
    ['an encoded path', `/tiles/%61lps/v1/10/5/7.pbf?token=${TOKEN}`, ''],
    ['If-None-Match', `${TARGET}?token=${TOKEN}`, 'If-None-Match: "x"\r\n'],
    ['If-Modified-Since', `${TARGET}?token=${TOKEN}`, 'If-Modified-Since: x\r\n'],
    ['If-Range', `${TARGET}?token=${TOKEN}`, 'Range: bytes=0-1\r\nIf-Range: "x"\r\n'],
    ['a body', `${TARGET}?token=${TOKEN}`, 'Content-Length: 0\r\n'],
    ['an upgrade', `${TARGET}?token=${TOKEN}`, 'Upgrade: h2c\r\n'],
  ])('leaves a request with %s to the handler', async (_name, path, headers) => {
    expect(await ask(path, headers)).toBe('handler')
  })

  it.each([
    ['its tag', 'If-None-Match: "a-1"', 304],
    ['its tag, weakly', 'If-None-Match: W/"a-1"', 304],
    ['its tag in a list', 'If-None-Match: "a,b", W/"x" ,"a-1"', 304],
    ['any tag', 'If-None-Match: *', 304],
    ['other tags', 'If-None-Match: "a", "1"', 200],
    ['another tag, with any date', `If-None-Match: "x"\r\nIf-Modified-Since: ${MODIFIED}`, 200],
    ['its date', `If-Modified-Since: ${MODIFIED}`, 304],
    ['a later date', 'If-Modified-Since: Thu, 29 Feb 2024 23:59:59 GMT', 304],
    ['an earlier date', 'If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT', 200],
  ])("compares %s with the client's copy", async (_name, lines, status) => {
    const validator = { etag: '"a-1"', modifiedMs: Date.parse(MODIFIED) + 999, headers: [['ETag', '"a-1"']] }
    await call(['putTile', { ...TILE, validator }])
    for (const method of ['GET', 'HEAD']) {
      client.write(request(`${TARGET}?token=${TOKEN}`, `${lines}\r\n`, method))
      const answer = await client.response(method === 'GET' && status === 200)
      expect([answer.status, answer.headers.get('x-answered-by')]).toEqual([status, undefined])
    }
  })

  it.each([
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'Sun, 31 Feb 1999 08:49:37 GMT',
    'Sun, 06 Nov 0099 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 UTC',
  ])('leaves a date in another form to the handler: %s', async (date) => {
    const validator = { etag: '"a-1"', modifiedMs: 0, headers: [['ETag', '"a-1"']] }
    await call(['putTile', { ...TILE, validator }])
    expect(await ask(`${TARGET}?token=${TOKEN}`, `If-Modified-Since: ${date}\r\n`)).toBe('handler')
  })

  it('answers HEAD with the head of GET', async () => {
    const before = await counts()
    client.write(request(`${TARGET}?token=${TOKEN}`, '', 'HEAD'))
    const { status, headers } = await client.response(false)
    expect([status, headers.get('content-length')]).toEqual([200, String(BODY.length)])
    expect(await ask(`${TARGET}?token=${TOKEN}`)).toBe('table')
    expect(await counts()).toMatchObject({ answers: before.answers + 2, bodyBytes: before.bodyBytes + BODY.length })
  })

  it.each(['close', 'Close', 'keep-alive, close', 'TE ,CLOSE'])(
    'ends a connection, with the header, for %s',
    async (option) => {
      const hot = request(`${TARGET}?token=${TOKEN}`)
      // Requests after this one get no response; the handler answers the last one that is sent.
      for (const target of [`${TARGET}?token=${TOKEN}`, '/tiles/another']) {
        const leaving = await server.connect()
        leaving.write(hot + request(target, `Connection: ${option}\r\n`) + hot)
        expect(await answered(leaving)).toBe('table')
        const last = await leaving.response()
        if (target !== '/tiles/another') expect(last.headers.get('connection')).toBe('close')
        await expect(leaving.response()).rejects.toThrow()
      }
    },
  )

  it('ends a connection after a response that its client reads late', async () => {
    const leaving = await server.connect()
    leaving.socket.pause()
    const hot = request(`${TARGET}?token=${TOKEN}`)
    leaving.write(hot.repeat(400) + request(`${TARGET}?token=${TOKEN}`, 'Connection: close\r\n') + hot)
    await counts()
    leaving.socket.resume()
    for (let i = 0; i < 401; i++) expect(await answered(leaving)).toBe('table')
    await expect(leaving.response()).rejects.toThrow()
  })

  it.each(['OPTIONS', 'DELETE', 'get'])('leaves %s to the handler', async (method) => {
    expect(await ask(`${TARGET}?token=${TOKEN}`, '', method)).toBe('handler')
  })

  it('honours the grants of a token', async () => {
    await call(
      ['putToken', 'andes', { basemaps: ['andes'], vectors: [] }, null],
      ['putToken', 'none', { basemaps: [], vectors: [] }, null],
      ['putToken', 'all', { basemaps: 'all', vectors: [] }, null],
    )
    expect(await ask(`${TARGET}?token=andes`)).toBe('handler')
    expect(await ask(`${TARGET}?token=none`)).toBe('handler')
    expect(await ask(`${TARGET}?token=all`)).toBe('table')
  })

  it('never accepts a signature as a token, or a token as a signature', async () => {
    const text = 'exp=4000000000&sig=abc'
    await call(
      ['putSignature', text, 'alps', FAR, ''],
      ['putToken', 'exp=4000000000&sig=def', { basemaps: 'all', vectors: [] }, null],
    )
    const headers = (one: string) => [`X-Access-Token: ${one}\r\n`, `Authorization: Bearer ${one}\r\n`]
    expect(await ask(`${TARGET}?${text}`)).toBe('table')
    for (const header of headers(text)) expect(await ask(TARGET, header)).toBe('handler')
    expect(await ask(`${TARGET}?exp=4000000000&sig=def`)).toBe('handler')
    // Signature and token are dropped independently, even if their texts are equal.
    await call(['putToken', text, { basemaps: 'all', vectors: [] }, null], ['dropToken', text])
    expect(await ask(`${TARGET}?${text}`)).toBe('table')
    await call(['putToken', text, { basemaps: 'all', vectors: [] }, null], ['dropSignature', text])
    expect(await ask(`${TARGET}?${text}`)).toBe('handler')
    for (const header of headers(text)) expect(await ask(TARGET, header)).toBe('table')
  })

  it('distinguishes many basemaps', async () => {
    const codes = Array.from({ length: 200 }, (_, i) => `code-${i}`)
    await call(...codes.map((code) => ['putTile', { ...TILE, code, target: `/tiles/${code}` }] as [string, unknown]), [
      'putToken',
      'even',
      { basemaps: codes.filter((_, i) => i % 2 === 0), vectors: [] },
      null,
    ])
    for (const [i, code] of codes.entries()) {
      expect(await ask(`/tiles/${code}?token=even`)).toBe(i % 2 === 0 ? 'table' : 'handler')
    }
  })

  it('keeps the grants of basemaps and vectors apart', async () => {
    const target = '/tiles/lakes/v1/10/5/7.pbf'
    const grants = {
      'all-maps': ['all', []],
      'all-vectors': [[], 'all'],
      map: [['alps'], []],
      vector: [[], ['/vectors/alps']],
    }
    await call(
      ['putTile', { ...TILE, code: '/vectors/alps', target }],
      ...Object.entries(grants).map(
        ([token, [basemaps, vectors]]) => ['putToken', token, { basemaps, vectors }, null] as [string, ...unknown[]],
      ),
    )
    for (const [token, tile, ofVector] of [
      ['all-maps', 'table', 'handler'],
      ['all-vectors', 'handler', 'table'],
      ['map', 'table', 'handler'],
      ['vector', 'handler', 'table'],
    ])
      expect([token, await ask(`${TARGET}?token=${token}`), await ask(`${target}?token=${token}`)]).toEqual([
        token,
        tile,
        ofVector,
      ])
  })

  it('honours the time at which a token expires', async () => {
    await call(
      ['putToken', 'past', { basemaps: 'all', vectors: [] }, Date.now() - 1_000],
      ['putToken', 'epoch', { basemaps: 'all', vectors: [] }, 0],
    )
    expect(await ask(`${TARGET}?token=past`)).toBe('handler')
    expect(await ask(`${TARGET}?token=epoch`)).toBe('handler')
    const seen: string[] = []
    // Repeats with a longer time if no request was sent in time.
    for (let lifeMs = 200; seen.length === 0; lifeMs *= 2) {
      const soon = Date.now() + lifeMs
      await call(['putToken', 'short', { basemaps: 'all', vectors: [] }, soon])
      for (let last = false; !last; ) {
        last = Date.now() >= soon
        const by = await ask(`${TARGET}?token=short`)
        if (last) expect(by).toBe('handler')
        else if (Date.now() < soon) seen.push(by)
      }
    }
    expect(new Set(seen)).toEqual(new Set(['table']))
  })

  it('does not honour tokens after the end of trust', async () => {
    await call(['trustTokensUntil', 1])
    expect(await ask(`${TARGET}?token=${TOKEN}`)).toBe('handler')
    await call(['trustTokensUntil', FAR])
    expect(await ask(`${TARGET}?token=${TOKEN}`)).toBe('table')
  })

  it('sends gzip only to clients that accept it', async () => {
    await call(['putTile', { ...TILE, gzip: true }])
    const path = `${TARGET}?token=${TOKEN}`
    expect(await ask(path)).toBe('handler')
    expect(await ask(path, 'Accept-Encoding: br\r\n')).toBe('handler')
    expect(await ask(path, 'Accept-Encoding: gzip;q=0\r\n')).toBe('handler')
    expect(await ask(path, 'Accept-Encoding: deflate, gzip;q=0, *\r\n')).toBe('handler')
    for (const accepting of ['gzip, deflate, br', 'br;q=1.0, gzip;q=0.8, *;q=0.1', 'X-GZip', 'identity, *']) {
      expect(await ask(path, `Accept-Encoding: ${accepting}\r\n`)).toBe('table')
    }
  })

  it.each([
    ['the tile', ['dropTile', TARGET]],
    ['the tiles of its basemap', ['dropTiles', 'alps']],
    ['the token', ['dropToken', TOKEN]],
    ['everything', ['clear']],
  ] as [string, [string, ...unknown[]]][])('does not answer once %s has been dropped', async (_name, drop) => {
    expect(await ask(`${TARGET}?token=${TOKEN}`)).toBe('table')
    await call(['dropTiles', 'andes'], ['dropToken', 'another'], drop)
    expect(await ask(`${TARGET}?token=${TOKEN}`)).toBe('handler')
  })

  it('answers with the newest of two tiles and grants', async () => {
    await call(['putTile', { ...TILE, body: 'newer' }], ['putToken', TOKEN, { basemaps: [], vectors: [] }, null])
    expect(await ask(`${TARGET}?token=${TOKEN}`)).toBe('handler')
    await call(['putToken', TOKEN, { basemaps: 'all', vectors: [] }, null])
    client.write(request(`${TARGET}?token=${TOKEN}`))
    expect((await client.response()).sha256).toBe(sha256(Buffer.from('newer')))
  })

  it('refuses a dropped token to all clients at once, under load', async () => {
    let dropped = false
    const late: string[] = []
    const early: string[] = []
    const run = async () => {
      const one = await server.connect()
      for (let after = 0; after < 20; ) {
        const asked = dropped ? late : early
        if (dropped) after++
        one.write(request(`${TARGET}?token=${TOKEN}`))
        asked.push(await answered(one))
      }
      one.close()
    }
    const clients = Array.from({ length: 32 }, run)
    while (early.length < 500) await counts()
    await call(['dropToken', TOKEN])
    dropped = true
    await Promise.all(clients)
    expect(early).toContain('table')
    expect(new Set(late)).toEqual(new Set(['handler']))
  })

  it('stays within its capacity, and keeps tiles that are used', async () => {
    await call(['open', 1_000_000])
    for (let i = 0; i < 200; i++) {
      await call(['putTile', { ...TILE, target: `/tiles/${i}` }])
      expect(await ask(`${TARGET}?token=${TOKEN}`)).toBe('table')
    }
    const { tiles, tileBytes } = await counts()
    expect(tiles).toBeGreaterThan(40)
    expect(tileBytes).toBeLessThanOrEqual(1_000_000)
    expect(tileBytes).toBeGreaterThan(tiles * BODY.length)
  })

  it('returns the tokens that were used since the last call', async () => {
    const puts = [
      ['putToken', 'idle', { basemaps: 'all', vectors: [] }, null],
      ['putToken', TOKEN, { basemaps: 'all', vectors: [] }, null],
    ] as [string, ...unknown[]][]
    const [, , number] = await call(['takeUsedTokens'], ...puts)
    await ask(`${TARGET}?token=${TOKEN}`)
    const taken = await call(['takeUsedTokens'], ['takeUsedTokens'])
    expect(taken.map((numbers) => Object.values(numbers as object))).toEqual([[number], []])
    // The token is used, and dropped before the call. Its number belongs to another token by then.
    await ask(`${TARGET}?token=${TOKEN}`)
    const [, other, after] = await call(
      ['dropToken', TOKEN],
      ['putToken', 'other', { basemaps: 'all', vectors: [] }, null],
      ['takeUsedTokens'],
    )
    expect([other, Object.values(after as object)]).toEqual([number, []])
  })

  it('answers in order among other requests, and to a client that does not read', async () => {
    const file = server.file('between', 3_000_000)
    const hot = request(`${TARGET}?token=${TOKEN}`)
    client.socket.pause()
    client.write(
      (hot.repeat(60) + request('/f/between') + hot + request('/later/between') + request('/tiles/x')).repeat(4),
    )
    await call(['dropTiles', 'alps'], ['counts'], ['putTile', TILE])
    client.socket.resume()
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 60; i++) await answered()
      expect((await client.response()).sha256).toBe(file.sha256)
      await answered()
      expect((await client.response()).sha256).toBe(file.sha256)
      expect(await answered()).toBe('handler')
    }
  })

  it('reads a head that is split at any byte', async () => {
    const hot = request(`${TARGET}?token=${TOKEN}`)
    for (let at = 1; at < hot.length; at++) {
      client.write(hot.slice(0, at))
      await new Promise((resolve) => setImmediate(resolve))
      client.write(hot.slice(at) + hot)
      expect(await answered()).toBe('table')
      expect(await answered()).toBe('table')
    }
  })

  it('continues when a client disconnects in the middle of a response', async () => {
    for (let i = 0; i < 50; i++) {
      const leaving = await server.connect()
      leaving.socket.pause()
      leaving.write(request(`${TARGET}?token=${TOKEN}`).repeat(300))
      leaving.socket.once('connect', () => {})
      if (i % 2) leaving.socket.resetAndDestroy()
      else leaving.close()
    }
    expect(await ask(`${TARGET}?token=${TOKEN}`)).toBe('table')
  })
})

it('keeps each of the first responses for tiles, and a representative sample of the others', async () => {
  await call(['putTile', { ...TILE, usage: 'version:alps/v1' }], ['sampleTiles', { exact: 20, every: 4, seed: 1 }])
  for (let i = 0; i < 420; i++) await ask(TARGET, `X-Access-Token: ${TOKEN}\r\n`)
  const [taken, more] = (await call(['takeTiles'], ['takeTiles'])) as { weight: number }[][]
  const tile = { name: 'version:alps/v1', z: 10, x: 5, y: 7, missing: false }
  expect(taken?.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => ({ ...tile, weight: 1 })))
  expect(taken?.slice(20)).toEqual(taken?.slice(20).map(() => ({ ...tile, weight: 4 })))
  // The standard deviation is 35.
  const sum = taken?.reduce((all, { weight }) => all + weight, 0) ?? 0
  expect(Math.abs(sum - 420)).toBeLessThan(4 * 35)
  expect(more).toEqual([])
  await call(['sampleTiles', { exact: 0, every: 0, seed: 0 }])
})

it('counts a token and a version as a pair up to the limit of pairs, and separately beyond it', async () => {
  const other = '/tiles/alps/v2/10/5/7.pbf'
  await call(
    ['takeUsage'],
    ['putTile', { ...TILE, usage: 'version:alps/v1' }],
    ['putTile', { ...TILE, target: other, usage: 'version:alps/v2' }],
    ['putToken', 'bmp_1', { basemaps: ['alps'], vectors: [] }, null, 'token:1'],
    ['putToken', 'bmp_2', { basemaps: ['alps'], vectors: [] }, null, 'token:2'],
  )
  const by = (token: string, target = TARGET) => ask(target, `X-Access-Token: ${token}\r\n`)
  const requests = async () => {
    const [{ names, amounts }] = (await call(['takeUsage'])) as [{ names: string; amounts: Record<number, number> }]
    const named = names.split('\0').slice(0, -1)
    return Object.fromEntries(named.map((name, i) => [name, [amounts[5 * i], amounts[5 * i + 4]]]))
  }
  const bytes = (n: number) => [n, n * BODY.length]
  await call(['limitPairs', 3])
  for (const [token, target] of [['bmp_1'], ['bmp_2'], ['bmp_1', other], ['bmp_2', other], ['bmp_1'], ['bmp_2', other]])
    expect(await by(token as string, target)).toBe('table')
  expect(await requests()).toEqual({
    'token:1 version:alps/v1': bytes(2),
    'token:2 version:alps/v1': bytes(1),
    'token:1 version:alps/v2': bytes(1),
    'token:2': bytes(2),
    'version:alps/v2': bytes(2),
  })
  // Unused pairs make room.
  await by('bmp_2')
  await requests()
  await by('bmp_2', other)
  expect(await requests()).toEqual({ 'token:2 version:alps/v2': bytes(1) })
  // Requests without a token or without a counted version count only for the other party.
  await call(['limitPairs', 0], ['putToken', 'bmp_1', { basemaps: ['alps'], vectors: [] }, null, 'token:1'])
  await by('bmp_1')
  expect(await requests()).toEqual({ 'token:1': bytes(1), 'version:alps/v1': bytes(1) })
})

it('leaves one request of each token to the handler after a while, one token at a time', async () => {
  const by = (token: string) => ask(TARGET, `X-Access-Token: ${token}\r\n`)
  const put = (token: string, usage: string) =>
    ['putToken', token, { basemaps: ['alps'], vectors: [] }, null, usage] as [string, ...unknown[]]
  await call(put('bmp_seen', 'token:1'), put('bmp_unaccounted', ''), ['seeTokensEvery', 1])
  await expect.poll(() => by('bmp_seen')).toBe('handler')
  expect(await by('bmp_unaccounted')).toBe('table')
  await call(['seeTokensEvery', 60_000])
  expect(await by('bmp_seen')).toBe('table')
  await call(['seeTokensEvery', 0])
})

describe('with a low limit of open files', () => {
  const DESCRIPTORS = 240
  /** A quarter of the descriptors. */
  const MOST = DESCRIPTORS / 4
  const headers = `X-Access-Token: ${TOKEN}\r\n`
  const target = (i: number) => `/tiles/alps/v1/10/6/${i}.pbf`
  let few: ServerProcess
  let other: RawClient
  const put = (from: number, to: number): [method: string, ...args: unknown[]][] =>
    Array.from({ length: to - from }, (_, i) => ['putTile', { ...TILE, target: target(from + i), file: 'tile' }])
  const asked = async (i: number) => {
    other.write(request(target(i), headers))
    return answered(other)
  }

  beforeAll(async () => {
    few = await ServerProcess.start({ tiers: ['native'], descriptors: DESCRIPTORS })
    writeFileSync(join(few.root, 'tile'), BODY)
    other = await few.connect()
    await callFew(
      ['open', 10_000_000],
      ['trustTokensUntil', FAR],
      ['putToken', TOKEN, { basemaps: ['alps'], vectors: [] }, null],
    )
  })
  beforeEach(() => callFew(['dropTiles', 'alps']))
  afterAll(async () => {
    other.close()
    await few.stop()
  })
  const callFew = (...calls: [method: string, ...args: unknown[]][]) => callOf(few, ...calls)

  it('a tile that is not in use gives its descriptor to a new one', async () => {
    await callFew(...put(0, MOST))
    for (let i = 0; i < MOST; i++) expect(await asked(i)).toBe('table')
    // All descriptors are in use: the first search clears the marks of use, and evicts the first tile that it meets
    // again.
    await callFew(...put(MOST, MOST + 1))
    expect(await asked(MOST - 1)).toBe('table')
    await callFew(...put(MOST + 1, MOST + 11))
    const after: string[] = []
    for (let i = 0; i < MOST + 11; i++) after.push(await asked(i))
    expect(after[MOST - 1]).toBe('table')
    expect(after.slice(MOST + 1)).toEqual(Array.from({ length: 10 }, () => 'table'))
    expect(after.filter((by) => by === 'table').length).toBeLessThanOrEqual(MOST)
  })

  it('tiles give up descriptors before connections run out of them', async () => {
    await callFew(...put(0, MOST))
    const { descriptors: before } = await few.stats()
    const clients = await Promise.all(Array.from({ length: DESCRIPTORS - before }, () => few.connect()))
    for (const client of clients) {
      client.write(request('/tiles/alps/none', headers))
      expect(await answered(client)).toBe('handler')
    }
    const [counted] = (await callOf(few, ['counts'])) as { tiles: number }[]
    expect(counted?.tiles).toBeLessThanOrEqual(MOST / 2)
    for (const client of clients) client.close()
  })
})
