import { randomBytes } from 'node:crypto'
import { cp, rm } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DisabledToken } from '@gateway/contracts/edge.js'
import type { SliceJob } from '@gateway/contracts/slice.js'
import type { IssuedToken } from '@gateway/contracts/token.js'
import { Agent, request } from 'undici'
import type { Admin } from '../harness/admin.js'
import type { Tally } from './tally.js'

export interface Soaked {
  readonly url: string
  readonly admin: Admin
  /** contains `maps`, a scan source of that code with the basemap `world`, and `images` */
  readonly home: string
  readonly receiver: string
  readonly tally: Tally
  readonly random: () => number
  readonly running: () => boolean
}

/** Timeout until a change is visible everywhere. */
const SEEN_WITHIN_MS = 8_000
const WORLD = '/tiles/world'
export const SPREAD = ['v1', 'v2', 'packed', 'single', 'current'] as const
const EXTRAS = ['x1', 'x2', 'x3', 'x4', 'x5']
/** Maximum number of withdrawn tokens that are used repeatedly. */
const MAX_WITHDRAWN = 300

/** One kind of use that continues until the soak ends. */
export type Churn = (soaked: Soaked) => Promise<void>

/** Returns a random existing tile of these sets, evenly distributed. */
function anyTile({ random }: Soaked): string {
  const z = Math.floor(random() * 4)
  const [x, y] = [Math.floor(random() * 2 ** z), Math.floor(random() * 2 ** z)]
  return `${SPREAD[Math.floor(random() * SPREAD.length)]}/${z}/${x}/${y}.png`
}

const clients = new Agent({ connections: 24, keepAliveTimeout: 3_000 })

async function get(url: string, headers: Record<string, string> = {}): Promise<{ status: number; body: Buffer }> {
  const { statusCode, body } = await request(url, { headers, dispatcher: clients })
  return { status: statusCode, body: Buffer.from(await body.arrayBuffer()) }
}

/** Runs an action, counts a failure, and continues after a pause. */
async function again(soaked: Soaked, what: string, pauseMs: number, once: () => Promise<void>): Promise<void> {
  while (soaked.running()) {
    try {
      await once()
    } catch (error) {
      soaked.tally.failure(what, error)
    }
    await sleep(pauseMs * (0.5 + soaked.random()))
  }
}

/** Requests tiles at a steady rate with a lasting token: mostly hot ones, some conditionally, some missing. */
export function tiles(rate: number): Churn {
  return async (soaked) => {
    const { token } = await soaked.admin.issueToken({ name: 'steady', basemap_codes: ['*'] })
    const tagOf = new Map<string, string>()
    let underWay = 0
    const one = async () => {
      const isMissing = soaked.random() < 0.05
      const address = isMissing ? `v1/9/${Math.floor(soaked.random() * 512)}/1.png` : anyTile(soaked)
      const tag = soaked.random() < 0.2 ? tagOf.get(address) : undefined
      const inQuery = soaked.random() < 0.3
      const headers = { ...(tag && { 'if-none-match': tag }), ...(!inQuery && { 'x-access-token': token }) }
      const answer = await request(`${soaked.url}${WORLD}/${address}${inQuery ? `?token=${token}` : ''}`, {
        headers,
        dispatcher: clients,
      })
      await answer.body.dump()
      if (!address.startsWith('current') && answer.headers.etag) tagOf.set(address, String(answer.headers.etag))
      soaked.tally.answer('tile', answer.statusCode, isMissing ? [404] : tag ? [200, 304] : [200], address)
    }
    const tick = 1000 / Math.max(1, rate)
    let next = performance.now()
    while (soaked.running()) {
      next = Math.max(next + tick, performance.now() - 1000)
      await sleep(Math.max(0, next - performance.now()))
      if (underWay >= 48) continue
      underWay++
      one()
        .catch((error) => soaked.tally.failure('tile', error))
        .finally(() => underWay--)
    }
  }
}

/** Issues, uses and disables tokens while they are in use, and keeps using them afterwards. */
export async function disabledTokens(soaked: Soaked): Promise<void> {
  const withdrawn: string[] = []
  const ask = (token: string) => get(`${soaked.url}${WORLD}/v1/0/0/0.png`, { 'x-access-token': token })
  const old = again(soaked, 'a disabled token', 15, async () => {
    const token = withdrawn[Math.floor(soaked.random() * withdrawn.length)]
    if (token !== undefined) soaked.tally.answer('a disabled token', (await ask(token)).status, [401])
  })
  const fresh = again(soaked, 'a token that is disabled', 300, async () => {
    const issued = await soaked.admin.issueToken({ name: 'short', basemap_codes: ['world'] })
    let confirmedAt = Number.POSITIVE_INFINITY
    const use = async () => {
      for (let i = 0; i < 400 && Date.now() < confirmedAt + 150; i++) {
        const sentAt = Date.now()
        const { status } = await ask(issued.token)
        soaked.tally.answer('a token that is disabled', status, sentAt > confirmedAt ? [401] : [200, 401])
        await sleep(5)
      }
    }
    const uses = Promise.allSettled([use(), use()])
    await sleep(50 + 200 * soaked.random())
    const path = `/tokens/${issued.id}/disable`
    const { pending } = await soaked.admin.expect<DisabledToken>(path, { method: 'POST' })
    if (pending.length === 0) {
      confirmedAt = Date.now()
      withdrawn.push(issued.token)
      if (withdrawn.length > MAX_WITHDRAWN) withdrawn.shift()
    } else soaked.tally.answer('disable, not confirmed by all', pending.length, [pending.length])
    for (const use of await uses) if (use.status === 'rejected') throw use.reason
  })
  await Promise.all([old, fresh])
}

/** Uses tokens that expire. */
export async function expiredTokens(soaked: Soaked): Promise<void> {
  await again(soaked, 'a token that expires', 500, async () => {
    const expiresAt = Date.now() + 1_500
    const { token }: IssuedToken = await soaked.admin.issueToken({
      name: 'brief',
      basemap_codes: ['*'],
      expires_at: new Date(expiresAt).toISOString(),
    })
    for (let sentAt = Date.now(); ; sentAt = Date.now()) {
      const { status } = await get(`${soaked.url}${WORLD}/v2/1/0/0.png?token=${token}`)
      soaked.tally.answer('a token that expires', status, sentAt >= expiresAt ? [401] : [200, 401])
      if (sentAt >= expiresAt) return
      await sleep(100)
    }
  })
}

/** Sends a flood of unknown and mistyped tokens that never repeats. */
export async function unknownTokens(soaked: Soaked): Promise<void> {
  await again(soaked, 'a made-up token', 60, async () => {
    const token = `bmp_${randomBytes(19).toString('hex')}`
    soaked.tally.answer(
      'a made-up token',
      (await get(`${soaked.url}${WORLD}/v1/0/0/0.png?token=${token}`)).status,
      [401],
    )
  })
}

/** Adds and removes versions with scans. */
export async function scans(soaked: Soaked): Promise<void> {
  const { token } = await soaked.admin.issueToken({ name: 'scans', basemap_codes: ['*'] })
  const there = new Set<string>()
  await again(soaked, 'a scan', 3_000, async () => {
    const version = EXTRAS[Math.floor(soaked.random() * EXTRAS.length)] ?? 'x1'
    const folder = join(soaked.home, 'maps/world', version)
    if (there.delete(version)) await rm(folder, { recursive: true })
    else {
      await cp(join(soaked.home, 'maps/world/v1'), folder, { recursive: true })
      there.add(version)
    }
    await soaked.admin.rescan('maps')
    const wanted = there.has(version) ? 200 : 404
    await seen(soaked, `a version after a scan (${wanted})`, async () => {
      const { status } = await get(`${soaked.url}${WORLD}/${version}/1/0/0.png`, { 'x-access-token': token })
      return status === wanted
    })
  })
}

/** Switches the default version back and forth; `current` must follow. */
export async function switches(soaked: Soaked): Promise<void> {
  const { token } = await soaked.admin.issueToken({ name: 'switches', basemap_codes: ['*'] })
  const ask = async (version: string) => (await get(`${soaked.url}${WORLD}/${version}/3/1/1.png?token=${token}`)).body
  const bodies = { v1: await ask('v1'), v2: await ask('v2') }
  let version: 'v1' | 'v2' = 'v1'
  await again(soaked, 'a switch', 2_000, async () => {
    version = version === 'v1' ? 'v2' : 'v1'
    await soaked.admin.expect('/basemaps/world/default-version', { body: { version } })
    await seen(soaked, 'a switch', async () => (await ask('current')).equals(bodies[version]))
  })
}

async function seen(soaked: Soaked, what: string, isSeen: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + SEEN_WITHIN_MS
  while (!(await isSeen())) {
    if (Date.now() > deadline) return soaked.tally.problem(`${what} is not seen within ${SEEN_WITHIN_MS} ms`)
    await sleep(20)
  }
  soaked.tally.answer(what, 0, [0])
}

/** Extends layers by one image, or rebuilds them from several, and expects the callback. */
export async function slicing(soaked: Soaked): Promise<void> {
  let jobs = 0
  const images = ['a.tif', 'b.tif', 'c.tif'].map((name) => join(soaked.home, 'images', name))
  await again(soaked, 'a slice job', 6_000, async () => {
    const number = jobs++
    const sources = number % 5 === 4 ? images : [images[number % images.length] as string]
    const job = await soaked.admin.expect<SliceJob>('/slice/jobs', {
      body: {
        target_code: `layer${number % 3}`,
        source_paths: sources,
        zoom_max: 6,
        callback_url: `${soaked.receiver}/callback`,
      },
    })
    for (;;) {
      const { status, message } = await soaked.admin.expect<SliceJob>(`/slice/jobs/${job.id}`)
      if (status === 'succeeded' || status === 'failed') {
        if (status === 'failed') soaked.tally.problem(`a slice job failed: ${message}`)
        return soaked.tally.answer(`a slice job ${status}`, 0, [0])
      }
      await sleep(200)
    }
  })
}

export const TARGETS = ['good', 'failing', 'refusing', 'silent', 'folder'] as const

/** Pushes to receivers that accept, refuse, do not listen, and never respond. */
export async function pushes(soaked: Soaked): Promise<void> {
  await again(soaked, 'a push', 1_000, async () => {
    const target_code = TARGETS[Math.floor(soaked.random() * TARGETS.length)]
    const isVector = soaked.random() < 0.5
    const { status } = isVector
      ? await soaked.admin.call('/vector-pushes', { body: { target_code, vector_code: 'small' } })
      : await soaked.admin.call('/pushes', { body: { target_code, basemap_code: 'world', version: 'v1' } })
    soaked.tally.answer('a push', status, [202])
  })
}

/** Requests the data of an operator's console. */
export async function console_(soaked: Soaked): Promise<void> {
  const paths = [
    '/dashboard',
    '/basemaps',
    '/vectors',
    '/tokens',
    '/push-records',
    '/slice/jobs',
    '/edges',
    '/scan-sources',
  ]
  await again(soaked, 'the console', 500, async () => {
    const path = paths[Math.floor(soaked.random() * paths.length)] as string
    soaked.tally.answer('the console', (await soaked.admin.call(path)).status, [200])
  })
}

/** Requests catalog, TileJSON and metrics. */
export async function catalog(soaked: Soaked): Promise<void> {
  const { token } = await soaked.admin.issueToken({ name: 'catalog', basemap_codes: ['*'], vector_codes: ['*'] })
  const paths = [
    '/api/v1/catalog/basemaps',
    '/api/v1/catalog/basemaps/world',
    '/tiles/world/tilejson.json',
    '/metrics',
    '/ready',
  ]
  await again(soaked, 'the catalog', 100, async () => {
    const path = paths[Math.floor(soaked.random() * paths.length)] as string
    soaked.tally.answer('the catalog', (await get(`${soaked.url}${path}`, { 'x-access-token': token })).status, [200])
  })
}

/** Whole downloads, ranges of them, and clients that abort in the middle. */
export async function downloads(soaked: Soaked): Promise<void> {
  const { token } = await soaked.admin.issueToken({ name: 'downloads', vector_codes: ['*'] })
  const headers = { 'x-access-token': token }
  await again(soaked, 'a download', 250, async () => {
    const path = soaked.random() < 0.7 ? '/vectors/large/download' : '/vectors/shape/download'
    const kind = soaked.random()
    const range = kind < 0.3 ? { range: `bytes=${Math.floor(kind * 1e4)}-` } : {}
    const { statusCode, body } = await request(`${soaked.url}${path}`, {
      headers: { ...headers, ...range },
      dispatcher: clients,
    })
    soaked.tally.answer('a download', statusCode, [200, 206])
    if (kind > 0.6) return void (await body.dump({ limit: 1 << 30 }))
    for await (const _ of body) break // which destroys the stream
  })
}

/** Clients that read a few kilobytes a second, and then abort. */
export async function slowReaders(soaked: Soaked): Promise<void> {
  const { token } = await soaked.admin.issueToken({ name: 'slow', vector_codes: ['*'] })
  const { port } = new URL(soaked.url)
  const one = () =>
    again(soaked, 'a slow reader', 1_000, async () => {
      const socket = net.connect({ port: Number(port), host: '127.0.0.1' })
      let isCut = false
      socket.on('error', () => {
        isCut = true
      })
      socket.write(`GET /vectors/large/download?token=${token} HTTP/1.1\r\nHost: x\r\n\r\n`)
      const until = Date.now() + 5_000 + 15_000 * soaked.random()
      while (soaked.running() && !isCut && Date.now() < until) {
        socket.read(4_096)
        socket.pause()
        await sleep(200)
      }
      socket.destroy()
      soaked.tally.answer(`a slow reader ${isCut ? 'cut' : 'left'}`, 0, [0])
    })
  await Promise.all(Array.from({ length: 8 }, one))
}

/** Connections that send nothing, a part of a head, nonsense, or several requests, and close. */
export async function passers(soaked: Soaked): Promise<void> {
  const { port } = new URL(soaked.url)
  const said = [
    '',
    'GET /tiles/world/v1/0/0/0.png HTTP/1.1\r\nHo',
    '\x16\x03\x01\x02\x00\x01',
    'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20),
    'POST /api/v1/slice/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc',
    'GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n',
  ]
  await again(soaked, 'a passer', 40, async () => {
    const socket = net.connect({ port: Number(port), host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.resume()
    socket.write(said[Math.floor(soaked.random() * said.length)] as string)
    await sleep(300 * soaked.random())
    if (soaked.random() < 0.5) socket.resetAndDestroy()
    else socket.destroy()
    soaked.tally.answer('a passer', 0, [0])
  })
}

export const ALL: readonly Churn[] = [
  disabledTokens,
  expiredTokens,
  unknownTokens,
  scans,
  switches,
  slicing,
  pushes,
  console_,
  catalog,
  downloads,
  slowReaders,
  passers,
]
