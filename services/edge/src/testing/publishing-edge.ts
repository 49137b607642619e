import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Change } from '@gateway/contracts/change.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import type { RunningCanary } from '@gateway/store/basemaps.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { EMPTY_CATALOG } from '../sync/catalog.js'
import type { CatalogReplica } from '../sync/catalog-replica.js'
import { follow } from './follow.js'
import { memoryReader } from './memory-reader.js'
import { READER, type RunningEdge, runEdge } from './running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-native-'))
export const BODIES = { v1: randomBytes(5_000), v2: randomBytes(7_000), large: randomBytes(60_000) }
export const PACKED = gzipSync(Buffer.from(`\x1a${'layer '.repeat(3_000)}`))
export const TARGETS = ['/tiles/alps/v1/0/0/0.png', '/tiles/alps/current/0/0/0.png', '/tiles/alps/0/0/0.png']
export const [V1, CURRENT] = TARGETS as [string, string]

export let running: RunningEdge
export let follower: CatalogReplica
let agent: http.Agent
let defaultVersion = 'v1'
let canary: RunningCanary | null = null
/** Times at which `v1` and `v2` were the default. */
export const DEFAULT_TIMES = {
  v1: [{ sinceMs: Date.UTC(2026, 0), untilMs: Date.UTC(2026, 4) }],
  v2: [{ sinceMs: Date.UTC(2026, 4), untilMs: null }],
}
const changes: Change[] = []
/** The applied revision at each announcement, for which an operator's disable call waits. */
export const announced: number[] = []

export function write(relativePath: string, data: Uint8Array): string {
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
    const versions = (['v1', 'v2'] as const).map((version) =>
      storedVersion(version, { path: path.join(home, version), defaultTimes: DEFAULT_TIMES[version] }),
    )
    const packed = storedVersion('v1', { path: path.join(home, 'packed'), format: 'pbf', extension: 'pbf' })
    return [
      storedBasemap('alps', versions, { sourcePath: home, defaultVersion, canary }),
      storedBasemap('packed', [packed], { sourcePath: home }),
    ]
  },
})

/** Returns the bus message of a commit. */
export const saying = (change: Change) => ({
  revision: change.revision,
  changes: [change],
  mark: `mark ${change.revision}`,
  previousMark: `mark ${change.revision - 1}`,
})

/** Begins or ends a canary of `alps`, and resolves when the edge has applied it. */
export async function setCanary(running: RunningCanary | null): Promise<void> {
  canary = running
  commit('basemap', 'alps')
  await follower.catchUp()
}

/** Gives `alps` a default version, commits a change, and resolves when the edge has applied it. */
export async function switchDefault(
  version: 'v1' | 'v2',
  kind: Change['kind'] = 'basemap',
  key = 'alps',
): Promise<void> {
  defaultVersion = version
  commit(kind, key)
  await follower.catchUp()
}

export function commit(kind: Change['kind'], key: string): Change {
  const change = { revision: changes.length + 1, kind, key }
  changes.push(change)
  return change
}

/** Starts an edge in the test's process that publishes to the native tier, and follows a catalog in memory; for all tests of a file. */
export function usePublishingEdge(options: Pick<Parameters<typeof runEdge>[0], 'copyBelow' | 'env'> = {}): void {
  beforeAll(async () => {
    for (const version of ['v1', 'v2'] as const) write(`${version}/0/0/0.png`, BODIES[version])
    write('v1/1/0/0.png', BODIES.large)
    write('packed/0/0/0.pbf', PACKED)
    running = await runEdge({
      port: await freePort(),
      catalog: EMPTY_CATALOG,
      dataDir: home,
      controlPlane: 'http://[::1]:1',
      ...options,
    })
    follower = await follow(running, store, (applying) => announced.push(applying.appliedRevision))
    expect(running.edge.sender.reason).toBe('its self-test passed')
  })
  beforeEach(() => {
    // JavaScript would check tiles and sets of an earlier test again during this one, some 10 s after they were put.
    running.edge.hotTiles.follow(EMPTY_CATALOG)
    agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    return () => agent.destroy()
  })
  afterAll(async () => {
    running.edge.native.close()
    await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
    fs.rmSync(home, { recursive: true, force: true })
  })
}

export function ask(target: string, headers: http.OutgoingHttpHeaders = {}, method = 'GET') {
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

export const withToken = (token = running.token): http.OutgoingHttpHeaders => ({ 'x-access-token': token })

/**
 * Repeats a request until the table answers: JavaScript answers the first request, then the tile is read without JavaScript, and a repeated tile is
 * kept.
 */
export async function askUntilTable(target: string, headers = withToken()) {
  const answers = [await ask(target, headers)]
  while (answers.at(-1)?.by !== 'table') answers.push(await ask(target, headers))
  return answers
}

export async function warm(target: string, headers = withToken()): Promise<void> {
  await askUntilTable(target, headers)
}

export function issue(more: Partial<typeof READER> = {}): { token: string; digest: string } {
  const token = createToken()
  const digest = tokenDigest(token).toString('hex')
  running.storedTokens.set(digest, { ...READER, id: digest, ...more })
  return { token, digest }
}
