import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type FreshStore, freshStore } from '@gateway/store/testing/fresh-store.js'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

let store: FreshStore
let home: string
const children: ChildProcess[] = []
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'control-plane-'))
  store = await freshStore(process.env.TEST_POSTGRES_URL, { migrated: false })
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(async () => {
  await store.drop()
  rmSync(home, { recursive: true })
})

interface Started {
  readonly child: ChildProcess
  /** the next log line that contains these words */
  line(words: string): Promise<string>
  readonly stderr: () => string
}

function start(env: NodeJS.ProcessEnv, ...args: string[]): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      PATH: process.env.PATH,
      CONFIG_FILE: join(home, 'service.env'),
      DATA_DIR: home,
      DRAIN_NOTICE_SECONDS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.push(child)
  let stderr = ''
  child.stderr?.on('data', (text) => {
    stderr += text
  })
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  const line = async (words: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error(`the process ended without a line "${words}": ${stderr}`)
      if (value.includes(words)) return value
    }
  }
  return { child, line, stderr: () => stderr }
}

/** Below the kernel's ephemeral ports and outside of the harness's range, since a process takes seconds until it listens. */
const FIRST_PORT = 30_200
const PORTS = 2_000
let next = process.pid % PORTS

async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (next++ % PORTS)
    const probe = createServer()
    const isFree = new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).once('listening', () => probe.close(() => resolve(true)))
    })
    probe.listen(port, '127.0.0.1')
    if (await isFree) return port
  }
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit')
  return child.exitCode
}

test.each<[string, NodeJS.ProcessEnv, ...string[]]>([
  ['DATABASE_URL', {}],
  ['TOKEN_DEFAULT_TTL', { DATABASE_URL: 'postgres://x@127.0.0.1:1/x', TOKEN_DEFAULT_TTL: 'soon' }],
  [
    'ADMIN_ALLOW_REMOTE',
    {
      DATABASE_URL: 'postgres://x@127.0.0.1:1/x',
      ADMIN_ALLOW_REMOTE: 'true',
      CONTROL_HOST: '0.0.0.0',
      CONFIG_FILE: '/nonexistent/x',
    },
  ],
  ['--port=9000', { DATABASE_URL: 'postgres://x@127.0.0.1:1/x' }, '--port=9000'],
])('invalid settings end the start with one line that names %s and exit code 2', async (name, env, ...args) => {
  const { child, stderr } = start(env, ...args)
  expect(await exitCode(child)).toBe(2)
  expect(stderr()).toMatch(new RegExp(`^[^\\n]*${name}[^\\n]*\\n$`))
})

/** A Postgres address that can become unreachable and return. */
class Link {
  readonly port: number
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  #server: Server | null = null

  constructor(port: number, target: string) {
    this.port = port
    this.#target = new URL(target)
  }

  async up(): Promise<void> {
    this.#server = createServer((near) => {
      const far = connect(Number(this.#target.port), this.#target.hostname)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => {})
      }
      near.pipe(far).pipe(near)
    }).listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async down(): Promise<void> {
    const closed = once(this.#server as Server, 'close')
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}

test('the process waits for the store, returns 503 while the store is down, recovers, and ends in order at SIGTERM', async () => {
  const port = await freePort()
  const link = new Link(await freePort(), store.url)
  const database = new URL(store.url)
  database.port = String(link.port)
  const { child, line, stderr } = start({ DATABASE_URL: database.href, CONTROL_PORT: String(port) })
  child.once('exit', (code) => {
    if (code !== 0 && code !== null) console.error(`the control plane ended with ${code}: ${stderr()}`)
  })
  await line('waiting for it')
  await link.up()
  await line('the control plane listens')

  const credentials = readFileSync(join(home, 'service.env'), 'utf8')
  expect(statSync(join(home, 'service.env')).mode & 0o777).toBe(0o600)
  const authorization = `Bearer ${/ADMIN_TOKEN=(.*)/.exec(credentials)?.[1]}`
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } })
  expect((await get('/api/v1/admin/tokens')).status).toBe(200)
  await expect.poll(async () => (await get('/ready')).status).toBe(200)

  await link.down()
  const away = await get('/api/v1/admin/tokens')
  expect([away.status, Number(away.headers.get('retry-after')) > 0]).toEqual([503, true])
  expect(await away.json()).toEqual({ error: expect.stringContaining('store') })
  expect((await get('/ready')).status).toBe(503)
  expect((await get('/health')).status).toBe(200)

  await link.up()
  await expect.poll(async () => (await get('/api/v1/admin/tokens')).status).toBe(200)
  child.kill('SIGTERM')
  expect(await exitCode(child)).toBe(0)
  await link.down()
})

test('the process ends while it still waits for the store', async () => {
  const { child, line } = start({ DATABASE_URL: `postgres://x@127.0.0.1:${await freePort()}/x` })
  await line('waiting for it')
  child.kill('SIGTERM')
  expect(await exitCode(child)).toBe(0)
})

test('the process ends with its parent, even with an idle open connection', async () => {
  const port = await freePort()
  const { child, line } = start({ DATABASE_URL: store.url, CONTROL_PORT: String(port) })
  await line('the control plane listens')
  const silent = connect(port, '127.0.0.1')
  await once(silent, 'connect')
  child.disconnect()
  expect(await exitCode(child)).toBe(0)
  silent.destroy()
})

test('malformed or ambiguous HTTP gets a response in the form of errors', async () => {
  const port = await freePort()
  const { line } = start({ DATABASE_URL: store.url, CONTROL_PORT: String(port) })
  await line('the control plane listens')
  const ask = async (text: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    socket.end(text)
    let answer = ''
    for await (const part of socket) answer += part
    return answer
  }
  for (const [status, request] of [
    [400, 'nonsense\r\n\r\n'],
    [400, 'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    [401, 'GET http://127.0.0.1/api/v1/admin/tokens HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'],
    [505, 'GET /health HTTP/2.0\r\nHost: a\r\n\r\n'],
    [400, 'POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    [400, 'POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    [400, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'],
    [431, `GET /health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ] as const) {
    const answer = await ask(request)
    expect([request.slice(0, 60), answer.slice(9, 12)]).toEqual([request.slice(0, 60), String(status)])
    expect(JSON.parse(answer.split('\r\n\r\n')[1] as string)).toEqual({ error: expect.any(String) })
  }
})
