import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { proveTier } from './testing/prove-tier.js'
import { freePort, request, ServerProcess, sha256 } from './testing/server-process.js'

proveTier('native')

/** uWebSockets.js closes an idle connection after 8 to 12 seconds. */
const IDLE_MS = 14_000

let server: ServerProcess
let afterIdling: Promise<number>
beforeAll(async () => {
  server = await ServerProcess.start({ tiers: ['native'], idleSeconds: 60 })
  // Takes the same time on any machine, so it runs while the other tests run.
  afterIdling = statusAfterIdling()
  afterIdling.catch(() => {})
})
afterAll(() => server.stop())

async function statusAfterIdling(): Promise<number> {
  const file = server.file('idle', 1_000)
  const client = await server.connect()
  client.write(request(`/f/${file.name}`))
  await client.response()
  await sleep(IDLE_MS)
  client.write(request(`/f/${file.name}`))
  const { status } = await client.response()
  client.close()
  return status
}

it('keeps an idle connection for the configured time', async () => expect(await afterIdling).toBe(200))

/**
 * A turn of the event loop ends by a signal, as in libuv; this must work with each supported Node. Run it manually for
 * the versions that do not run the tests:
 * OTHER_NODES=/path/to/node22:/path/to/node24 npm test -- native.integration
 */
const NODES = [process.execPath, ...(process.env.OTHER_NODES?.split(':') ?? [])]

it.each(NODES)('lets timers run with any number of busy connections, with %s', async (node) => {
  const server = await ServerProcess.start({ tiers: ['native'], node })
  expect(server.reason).toBe('its self-test passed')
  const [connections, requests] = [1_500, 15_000]
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = createConnection({ host: '127.0.0.1', port: server.port, noDelay: true })
      await once(socket, 'connect')
      return socket
    }),
  )
  let asked = 0
  await new Promise<void>((resolve, reject) => {
    const ask = (socket: Socket) => {
      if (asked++ < requests) socket.write(request('/slow'))
      else resolve()
    }
    // Makes more of them wait at the same time than the kernel reports in one batch (1,024).
    server.signal('SIGSTOP')
    for (const socket of sockets) {
      socket.on('data', () => ask(socket)).on('error', reject)
      ask(socket)
    }
    server.signal('SIGCONT')
  })
  const { mostBetweenTimers } = await server.stats()
  for (const socket of sockets) socket.destroy()
  await server.stop()
  expect(mostBetweenTimers).toBeGreaterThan(1_024)
  expect(mostBetweenTimers).toBeLessThan(5 * 1_024)
})

it('holds a request behind a handler that has not answered yet', async () => {
  const file = server.file('held', 100_000)
  const client = await server.connect()
  client.write(request('/later/held').repeat(5) + request('/f/held').repeat(5))
  for (let i = 0; i < 10; i++) expect((await client.response()).sha256).toBe(file.sha256)
  client.close()
})

it('reads ahead only up to its limit, and continues from there', async () => {
  const file = server.file('ahead', 10_000_000)
  const client = await server.connect()
  const body = Buffer.alloc(50_000, 'x')
  const post = `${request('/echo', `Content-Length: ${body.length}\r\n`, 'POST')}${body}`
  client.socket.pause()
  client.write(request('/f/ahead') + post.repeat(20))
  await server.until((stats) => stats.active === 1)
  client.socket.resume()
  expect((await client.response()).sha256).toBe(file.sha256)
  for (let i = 0; i < 20; i++) {
    expect((await client.response()).sha256).toBe(sha256(Buffer.from(`${body.length} ${sha256(body)}`)))
  }
  client.close()
})

it.each([
  ['two lengths', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\n', 400],
  [
    'a length and a coding',
    'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
  ],
  ['another coding', 'POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', 400],
  ['no Host', 'GET /f/x HTTP/1.1\r\nAccept: */*\r\n\r\n', 400],
  ['two Hosts', 'GET /f/x HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n', 400],
  ['two tokens', 'GET /f/x HTTP/1.1\r\nHost: x\r\nX-Access-Token: a\r\nX-Access-Token: b\r\n\r\n', 400],
  [
    'two authorizations',
    'GET /f/x HTTP/1.1\r\nHost: x\r\nAuthorization: Basic a\r\nAuthorization: Bearer b\r\n\r\n',
    400,
  ],
  ['99 fields', `GET /f/x HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(98)}\r\n`, 431],
  ['an empty length', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n', 400],
  ['a signed length', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\n', 400],
  ['a space before the colon', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\n', 400],
  ['a folded line', 'GET /f/x HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n', 400],
  ['a field without a name', 'GET /f/x HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n', 400],
  ['a bare line feed', 'GET /f/x HTTP/1.1\nHost: x\r\n\r\n', 400],
  ['no field at all', 'GET /f/x HTTP/1.1\r\n\r\n', 400],
  ['a control character', 'GET /f/x HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n', 400],
  ['no HTTP', '\u0016\u0003\u0001\u0002', 400],
  ['HTTP/2.0', 'GET /f/x HTTP/2.0\r\nHost: x\r\n\r\n', 505],
  ['a coding in HTTP/1.0', 'GET /f/x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ['a head without end', `GET /f/x HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}`, 431],
])('refuses %s at once and closes', async (_name, bytes, status) => {
  const client = await server.connect()
  client.write(bytes)
  expect((await client.response()).status).toBe(status)
  await expect(client.response()).rejects.toThrow()
})

it.each([
  ['no size', '\r\nabc\r\n0\r\n\r\n'],
  ['a chunk longer than its size', '3\r\nabcd\r\n0\r\n\r\n'],
  ['a size that overflows', 'fffffffff\r\nabc'],
])('closes the connection for a chunked body with %s', async (_name, body) => {
  const client = await server.connect()
  client.write(`${request('/echo', 'Transfer-Encoding: chunked\r\n', 'POST')}${body}`)
  await expect(client.response().then(({ status }) => status === 400 || status)).resolves.toBe(true)
})

it.each([1, 2, 3, 7, 1_000])(
  'keeps chunk extensions and trailers from uWebSockets.js, sent %i bytes at a time',
  async (piece) => {
    const client = await server.connect()
    const body = '3;a=b\r\nabc\r\n1 ; c="0\\"\r\nd\r\n0;e\r\nA: b\r\nGET:\r\n\r\n'
    const bytes = `${request('/echo', 'Transfer-Encoding: chunked\r\n', 'POST')}${body}`.repeat(2)
    for (let at = 0; at < bytes.length; at += piece) {
      client.write(bytes.slice(at, at + piece))
      await nextTurn()
    }
    const echoed = sha256(Buffer.from(`4 ${sha256(Buffer.from('abcd'))}`))
    for (let i = 0; i < 2; i++) expect((await client.response()).sha256).toBe(echoed)
    client.close()
  },
)

it('leaves connections that are older than itself to uWebSockets.js, in the middle of a request', async () => {
  const late = await ServerProcess.start({ tiers: ['native'], attachLate: true })
  const file = late.file('late', 1_000_000)
  const [idle, inHead, inBody] = [await late.connect(), await late.connect(), await late.connect()]
  idle.write(request('/f/late'))
  expect((await idle.response()).sha256).toBe(file.sha256)
  inHead.write('GET /f/late HTTP/1.1\r\nHost: x\r\nX-Rest: ')
  inBody.write(`${request('/echo', 'Content-Length: 7\r\n', 'POST')}abc`)
  await late.stats()
  await late.attach()
  expect(late.tier).toBe('native')
  idle.write(request('/f/late'))
  inHead.write('of it\r\n\r\n')
  inBody.write(`defg${request('/f/late')}`)
  expect((await inBody.response()).sha256).toBe(sha256(Buffer.from(`7 ${sha256(Buffer.from('abcdefg'))}`)))
  for (const client of [idle, inHead, inBody, await late.connect()]) {
    if (client !== idle && client !== inHead && client !== inBody) client.write(request('/f/late'))
    expect((await client.response()).sha256).toBe(file.sha256)
    client.close()
  }
  await late.stop()
})

it('finds its own process if several share the port', async () => {
  // uWebSockets.js shares only a port that it was given, not one that the system has picked.
  const port = await freePort()
  const servers = await Promise.all([1, 2, 3].map(() => ServerProcess.start({ tiers: ['native'], port })))
  for (const each of servers) {
    expect(each).toMatchObject({ tier: 'native', port })
    await each.stop()
  }
})

it('takes an unknown binary that passes the self-test, and says so in one line', async () => {
  const unknown = await ServerProcess.start({ tiers: ['native'], unknownBinary: true })
  expect(unknown).toMatchObject({ tier: 'native', reason: 'its self-test passed' })
  expect(unknown.warnings).toEqual(['an unknown uWebSockets.js binary passed the self-test'])
  await unknown.stop()
})

it('copies with an unknown binary if only proven ones may be used', async () => {
  const refused = await ServerProcess.start({ tiers: ['native'], native: 'proven', unknownBinary: true })
  expect(refused.tier).toBe('copy')
  expect(refused.reason).toMatch(
    /^this uWebSockets\.js binary is not a proven one \(SHA-256 [0-9a-f]{64}\); NATIVE_TIER=any tries it all the same$/,
  )
  const file = refused.file('copied', 100_000)
  const client = await refused.connect()
  client.write(request('/f/copied'))
  expect((await client.response()).sha256).toBe(file.sha256)
  client.close()
  await refused.stop()
  const known = await ServerProcess.start({ tiers: ['native'], native: 'proven' })
  expect([known.tier, known.warnings]).toEqual(['native', []])
  await known.stop()
})
