import net from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answerUpstream, ask, GEOJSON, running, untilHot, useServingEdge } from '../testing/serving-edge.js'

/* Messages by RFC 9112 and RFC 9110, on the wire of the native tier. */
useServingEdge()

const TILE = '/tiles/raster/0/0/0.png'

/** Sends each piece as its own packet, and reads until the edge closes the connection. */
async function talk(...pieces: string[]): Promise<string> {
  const socket = net.connect({ port: Number(new URL(running.url).port), host: '127.0.0.1', noDelay: true })
  socket.setEncoding('latin1')
  const answer = text(socket)
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, 'latin1', resolve))
    await nextTurn()
  }
  return answer
}

const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

const head = (line: string, ...fields: string[]) =>
  [`${line} HTTP/1.1`, 'Host: x', `X-Access-Token: ${running.token}`, ...fields, '', ''].join('\r\n')
const LAST = 'Connection: close'

test('empty lines before a request are ignored, in packets of any size', async () => {
  const [one, last] = [head(`HEAD ${TILE}`), head(`HEAD ${TILE}`, LAST)]
  expect(statuses(await talk(`\r\n\r\n${one}\r\n${one}${last}`))).toEqual([200, 200, 200])
  for (const pieces of [
    ['\r', `\n${last}`],
    ['\r\n', last],
    [`${one}\r`, '\n\r', `\n${last}`],
  ]) {
    expect(statuses(await talk(...pieces)).at(-1), JSON.stringify(pieces)).toBe(200)
  }
  expect(statuses(await talk(`\n${last}`))).toEqual([400])
  expect(statuses(await talk(`\rX${last}`))).toEqual([400])
})

test('an address that names a host means its path at that host, even if the Host field differs', async () => {
  const seen: unknown[] = []
  answerUpstream((req, res) => {
    seen.push([req.method, req.url, req.headers.host])
    res.end('here')
  })
  await untilHot(TILE)
  expect(
    statuses(await talk(head(`HEAD http://maps.example:80${TILE}`), head(`HEAD HTTP://[::1]${TILE}?v=1`, LAST))),
  ).toEqual([200, 200])
  const passed = ['http://maps.example/api/v1/x?a=http://b/', 'http://maps.example?a', 'http://maps.example']
  for (const target of passed) expect(await talk(head(`GET ${target}`, 'Accept: */*', LAST)), target).toMatch(/here$/)
  expect(seen).toEqual([
    ['GET', '/api/v1/x?a=http://b/', 'maps.example'],
    ['GET', '/?a', 'maps.example'],
    ['GET', '/', 'maps.example'],
  ])
  // Addresses without a host, with a user, of another scheme, and without a scheme.
  for (const target of [
    'http://',
    'http:///x',
    'http://:80/',
    'http://a@b/',
    'http://a b/',
    'https://x/',
    'x:80',
    '*',
  ]) {
    expect(statuses(await talk(head(`GET ${target}`))), target).toEqual([400])
  }
})

test('OPTIONS of the server as a whole is answered', async () => {
  expect(await talk(head('OPTIONS *'))).toMatch(/^HTTP\/1\.1 204 No Content\r\nAllow: GET, HEAD, .*\r\n(.*\r\n)*Date: /)
})

test('an invalid Host returns 400', async () => {
  for (const host of ['a b', 'a/b', 'a@b', 'a:b', '::1', '[::1', 'ä', 'a, b:c']) {
    expect(statuses(await talk(`GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`)), host).toEqual([400])
  }
  for (const host of ['', 'x', 'x:', 'a_b.example:8910', '[::1]:8910', '127.0.0.1']) {
    expect(statuses(await talk(`HEAD /health HTTP/1.1\r\nHost: ${host}\r\n${LAST}\r\n\r\n`)), host).toEqual([200])
  }
})

test('a newer version of HTTP/1 is answered as HTTP/1.1', async () => {
  expect(statuses(await talk(head(`HEAD ${TILE}`, LAST).replace('HTTP/1.1', 'HTTP/1.2')))).toEqual([200])
  expect(statuses(await talk(head(`HEAD ${TILE}`).replace('HTTP/1.1', 'HTTP/2.0')))).toEqual([505])
})

test('a request line that is too long returns 414, another head 431, both with a Date', async () => {
  for (const [status, sent] of [
    [414, head(`GET /${'a'.repeat(20_000)}`)],
    [431, head('GET /', `X: ${'a'.repeat(20_000)}`)],
    [400, head('GET x')],
    [505, 'GET / HTTP/3.0\r\n\r\n'],
  ] as const) {
    const answer = await talk(sent)
    expect([statuses(answer), /\r\nDate: \w{3}, /.test(answer)]).toEqual([[status], true])
  }
})

test('chunk extensions and trailers are ignored, in packets of any size', async () => {
  const bodies: string[] = []
  answerUpstream(async (req, res) => {
    bodies.push(await text(req))
    res.end()
  })
  const sent =
    head('POST /api/v1/x', 'Transfer-Encoding: chunked', 'Trailer: Digest') +
    '5;a=b;c="d;\\" e"\r\nhello\r\n6 ; x\r\n world\r\n0;last\r\nDigest: GET / HTTP/1.1\r\nX:\r\n\r\n'
  const last = head('HEAD /health', LAST)
  expect(statuses(await talk(sent + sent + last))).toEqual([200, 200, 200])
  expect(statuses(await talk(...[...sent], last))).toEqual([200, 200])
  expect(bodies).toEqual(['hello world', 'hello world', 'hello world'])
  const broken = [
    '5;a\nhello',
    '5 5\r\nhello',
    '0\r\n folded: x\r\n',
    '0\r\nX : y\r\n',
    '0\r\nGET / HTTP/1.1\r\n',
    `1;${'a'.repeat(20_000)}`,
  ]
  for (const body of broken) {
    // The edge returns 400 only if the handler does not know of the request yet.
    const answer = await talk(head('POST /api/v1/x', 'Transfer-Encoding: chunked') + body)
    expect(['', '400'], body.slice(0, 40)).toContain(statuses(answer).join())
  }
  expect(bodies).toHaveLength(3)
})

test('several lines of a list field form one list', async () => {
  const vector = '/tiles/vector/0/0/0.pbf'
  const download = '/vectors/points/download'
  const asked = async (address: string, ...fields: string[]) => talk(head(`GET ${address}`, ...fields, LAST))
  const tagOf = async (address: string) =>
    String((await ask(address, { headers: { 'accept-encoding': 'gzip' } })).headers.etag)
  for (const round of ['cold', 'hot']) {
    for (const address of [TILE, download, '/api/v1/catalog/vectors']) {
      const answer = await asked(address, 'If-None-Match: "other"', `If-None-Match: ${await tagOf(address)}`)
      expect(statuses(answer), `${address}, ${round}`).toEqual([304])
    }
    expect(await asked(vector, 'Accept-Encoding: br', 'Accept-Encoding: gzip'), round).toContain(
      'Content-Encoding: gzip',
    )
    expect(await asked(vector, 'Accept-Encoding: *', 'Accept-Encoding: gzip;q=0'), round).not.toContain(
      'Content-Encoding',
    )
    await Promise.all([untilHot(TILE), untilHot(vector, { 'accept-encoding': 'gzip' })])
  }
  // Two ranges, or two dates, are not valid as one.
  expect(statuses(await asked(download, 'Range: bytes=0-9', 'Range: bytes=20-29'))).toEqual([200])
  const later = 'If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT'
  expect(statuses(await asked(TILE, later, later))).toEqual([200])
  expect(statuses(await asked(TILE, later))).toEqual([304])
  expect(statuses(await talk(head(`HEAD ${TILE}`, 'Connection: keep-alive', LAST)))).toEqual([200])
})

test('a failed If-Match or If-Unmodified-Since returns 412', async () => {
  await untilHot(TILE)
  for (const address of [TILE, '/vectors/points/download', '/vectors/roads/download']) {
    const { headers } = await ask(address)
    const status = async (name: string, value: string) => (await ask(address, { headers: { [name]: value } })).status
    const etag = String(headers.etag)
    expect(await status('If-Match', '"other"'), address).toBe(412)
    expect(await status('If-Match', `W/${etag}`), address).toBe(412)
    expect(await status('If-Match', `"other", ${etag}`), address).toBe(200)
    expect(await status('If-Match', '*'), address).toBe(200)
    expect(await status('If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'), address).toBe(412)
    expect(await status('If-Unmodified-Since', String(headers['last-modified'])), address).toBe(200)
    expect(await status('If-Unmodified-Since', 'yesterday'), address).toBe(200)
  }
  const missing = await ask('/tiles/raster/9/9/9.png', { headers: { 'if-match': '"other"' } })
  expect(missing.status).toBe(404)
})

test('a hundred pipelined requests of every kind are answered in their order', async () => {
  answerUpstream(async (req, res) => {
    await nextTurn()
    await text(req)
    res.end('passed')
  })
  const kinds: [number, string][] = [
    [200, head(`GET ${TILE}`)],
    [200, `\r\n${head(`HEAD http://x${TILE}`)}`],
    [404, head('GET /tiles/raster/9/9/9.png')],
    [200, head('GET /tiles/raster/1/0/0.png')],
    [206, head('GET /vectors/points/download', 'Range: bytes=-5')],
    [200, head('GET /vectors/points/download', 'If-Match: *')],
    [200, head('GET /api/v1/passed')],
    [200, `${head('POST /api/v1/passed', 'Transfer-Encoding: chunked')}5;a\r\nhello\r\n0\r\nX: y\r\n\r\n`],
    [405, `${head('DELETE /health', 'Content-Length: 5')}hello`],
    [204, head('OPTIONS /health')],
    [400, head('GET /tiles/raster/0/0/00.png')],
  ]
  const asked = Array.from({ length: 99 }, (_, i) => kinds[(i * 7) % kinds.length] as [number, string])
  asked.push([200, head('GET /vectors/points/download', LAST)])
  const answer = await talk(asked.map(([, sent]) => sent).join(''))
  expect(statuses(answer)).toEqual(asked.map(([status]) => status))
  expect(answer.endsWith(GEOJSON.toString('latin1'))).toBe(true)
})
