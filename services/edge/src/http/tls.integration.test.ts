import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { Log } from '@gateway/core/logging/log.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'
import { type MadePair, makePair } from '../testing/tls-pair.js'

const home = mkdtempSync(join(tmpdir(), 'gateway-tls-'))
const inForce = { TLS_CERT_FILE: join(home, 'cert.pem'), TLS_KEY_FILE: join(home, 'key.pem') }
const TILE = Buffer.alloc(300_000, 'tile ')
const PATH = '/tiles/world/v1/0/0/0.png'
const logged: string[] = []
const note = (_: object, message: string) => logged.push(message)
const log = {
  isLevelEnabled: () => false,
  debug: note,
  info: note,
  warn: note,
  error: note,
  fatal: note,
} as unknown as Log

let running: RunningEdge

function putInPlace({ cert, key }: MadePair): void {
  copyFileSync(cert, inForce.TLS_CERT_FILE)
  copyFileSync(key, inForce.TLS_KEY_FILE)
}

const [first, second, third, fourth] = ['first', 'second', 'third', 'fourth'].map((name) => makePair(home, name)) as [
  MadePair,
  MadePair,
  MadePair,
  MadePair,
]

beforeAll(async () => {
  putInPlace(first)
  mkdirSync(join(home, 'maps/0/0'), { recursive: true })
  writeFileSync(join(home, 'maps/0/0/0.png'), TILE)
  const version = storedVersion('v1', { path: join(home, 'maps') })
  const rows = [storedBasemap('world', [version], { sourcePath: join(home, 'maps') })]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
  const port = await freePort()
  running = await runEdge({ port, catalog, dataDir: home, controlPlane: 'http://127.0.0.1:1', env: inForce, log })
})

afterAll(async () => {
  await running.server.drain(1)
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  rmSync(home, { recursive: true })
})

/** Requests the tile; returns it with its certificate and connection. */
function ask(agent: Agent, headers: OutgoingHttpHeaders = { 'x-access-token': running.token }) {
  const { hostname, port } = new URL(running.url)
  const options = { agent, hostname, port, path: PATH, rejectUnauthorized: false }
  return new Promise<{ status: number; body: Buffer; name: string; port: number }>((resolve, reject) => {
    const req = request({ ...options, headers }, async (res) => {
      const socket = res.socket as TLSSocket
      const name = socket.getPeerCertificate().subject.CN as string
      const { localPort } = socket
      resolve({ status: res.statusCode ?? 0, body: await buffer(res), name, port: localPort ?? 0 })
    })
    req.on('error', reject)
    req.end()
  })
}

const saysSo = async (words: string) => {
  while (!logged.some((line) => line.includes(words))) await sleep(20)
}

test('tiles are sent over TLS, and a changed pair applies to new connections while old ones continue', async () => {
  const lasting = new Agent({ keepAlive: true, maxSockets: 1 })
  const fresh = () => ask(new Agent())
  const before = await ask(lasting)
  expect(before).toMatchObject({ status: 200, name: 'first' })
  expect(before.body.equals(TILE)).toBe(true)
  copyFileSync(second.cert, inForce.TLS_CERT_FILE)
  await saysSo('the previous one stays in force')
  expect((await fresh()).name).toBe('first')
  putInPlace(second)
  // Keeps asking, since an idle connection is closed after 10 s.
  const renewed = saysSo('a new TLS certificate is in force')
  let isRenewed = false
  void renewed.then(() => {
    isRenewed = true
  })
  while (!isRenewed) expect(await ask(lasting)).toMatchObject({ status: 200, port: before.port })
  expect(await fresh()).toMatchObject({ status: 200, name: 'second' })
  const after = await ask(lasting)
  expect(after).toMatchObject({ status: 200, name: 'first', port: before.port })
  expect(after.body.equals(TILE)).toBe(true)
  lasting.destroy()
})

test('the native table answers over TLS, including on connections of a changed pair', async () => {
  expect(running.edge.sender.reason).toBe('its self-test passed')
  const { native } = running.edge
  for (const pair of [third, fourth]) {
    logged.length = 0
    putInPlace(pair)
    await saysSo('a new TLS certificate is in force')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const answers = native.answers
    for (let i = 0; i < 5; i++) expect((await ask(agent)).body.equals(TILE)).toBe(true)
    expect(native.answers).toBeGreaterThan(answers + 1)
    agent.destroy()
  }
})

test('a slow client over TLS gets every pipelined response of the table complete and in order', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let i = 0; i < 3; i++) await ask(agent)
  const { native } = running.edge
  const [answers, requests] = [native.answers, 40]
  const request = `GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${running.token}\r\n`
  const socket = connect({ port: Number(new URL(running.url).port), host: '127.0.0.1', rejectUnauthorized: false })
  socket.pause()
  socket.write(`${`${request}\r\n`.repeat(requests - 1)}${request}Connection: close\r\n\r\n`)
  // Far more bytes than the kernel buffers for it, so the server has to wait in the middle of a response.
  while (native.answers < answers + 5) await sleep(20)
  await sleep(200)
  const received = await buffer(socket)
  const head = received.indexOf('\r\n\r\n') + 4
  expect(received.length).toBe(requests * (head + TILE.length) + 'Connection: close\r\n'.length)
  for (let i = 0, at = 0; i < requests; i++) {
    at = received.indexOf('\r\n\r\n', at) + 4
    expect(received.subarray(at, at + TILE.length).equals(TILE)).toBe(true)
    at += TILE.length
  }
  expect(native.answers).toBe(answers + requests)
  agent.destroy()
})

test.each([
  ['x-access-token', (token: string) => [token, 'bmp_another'], 400],
  ['x-access-token', (token: string) => [token, token], 200],
  ['authorization', (token: string) => [`Bearer ${token}`, 'Bearer bmp_another'], 400],
  ['authorization', (token: string) => ['', `Bearer ${token}`], 400],
  ['authorization', (token: string) => [`Bearer ${token}`, `Bearer ${token}`], 200],
] as const)(
  'two equal headers %s count as one, and two different ones return 400: %#',
  async (name, values, status) => {
    const agent = new Agent()
    const answer = await ask(agent, { [name]: values(running.token) })
    agent.destroy()
    expect([answer.status, answer.body.length > 1_000]).toEqual([status, status === 200])
  },
)

test('an edge does not start with an invalid pair, and says so in one line', () => {
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
  const env = {
    PATH: process.env.PATH,
    CONFIG_FILE: join(home, 'none.env'),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    TLS_CERT_FILE: first.cert,
    TLS_KEY_FILE: second.key,
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [main], { env, encoding: 'utf8' })
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^TLS_CERT_FILE .* and TLS_KEY_FILE .* are not a PEM certificate .*: key values mismatch\n$/)
  expect(status).toBe(2)
})
