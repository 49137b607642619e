import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Archive, Export } from '@gateway/contracts/export.js'
import { PMTiles } from 'pmtiles'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { PIXEL } from '../catalog/scans/testing/trees.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { exportLoop } from './loop.js'

const run = promisify(execFile)
const EXAMPLES = fileURLToPath(new URL('../../../../docs/examples/apply/', import.meta.url))
const CLIENTS = [
  ['node', path.join(EXAMPLES, 'keep.mjs')],
  ['python3', path.join(EXAMPLES, 'keep.py')],
] as const
const VERSIONS = [3, 4, 5, 6, 7, 8, 9]
const SIDE = 4

let home: string
let gateway: TestApp
let loops: Promise<unknown>
let base: string
const tokens: Record<string, string> = {}
const admin = async (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object) =>
  (await gateway.admin({ method, url: `/api/v1/admin${url}`, ...(payload && { payload }) })).json()

/** A picture of so many bytes that cannot be compressed. */
function picture(content: number, length: number): Buffer {
  const noise = createHash('shake256', { outputLength: length }).update(String(content)).digest()
  return Buffer.concat([PIXEL, noise])
}

/**
 * Writes version n. Compared with the previous version, it has one new tile, one changed tile and one tile less. Most tiles never change, so a whole
 * archive is larger than the deltas.
 */
function writeVersion(n: number): void {
  const put = (x: number, y: number, tile: Buffer) => {
    const folder = path.join(home, 'maps/world', `v${n}`, '4', `${x}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, `${y}.png`), tile)
  }
  for (let at = n; at < n + 10; at++)
    put(at % SIDE, Math.floor(at / SIDE), picture(at === n + 5 ? n : 100 + at, 60_000))
  for (let at = 0; at < 100; at++) put(SIDE + (at % 10), Math.floor(at / 10), picture(1000 + at, 16_000))
}

async function exported(version: string, from_version?: string): Promise<Export> {
  const more = from_version === undefined ? {} : { from_version }
  const { id } = await admin('POST', '/exports', { basemap_code: 'world', version, ...more })
  const ended = () => admin('GET', `/exports/${id}`)
  await vi.waitFor(async () => expect((await ended()).status).toBe('succeeded'), { timeout: 90_000 })
  return ended()
}

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'archives-'))
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, { DATA_DIR: home })
  base = await gateway.app.listen({ host: '127.0.0.1', port: 0 })
  loops = exportLoop.run(gateway.ctx)
  for (const n of VERSIONS) writeVersion(n)
  await admin('POST', '/scan-sources', { code: 'maps', kind: 'basemap', path: path.join(home, 'maps') })
  await admin('POST', '/scan-sources/maps/run')
  const grants = { all: {}, other: { basemap_codes: ['other'] }, bounded: { bounds: [-10, -10, 10, 10] } }
  for (const [name, more] of Object.entries(grants)) {
    const { token } = await admin('POST', '/tokens', { name, basemap_codes: ['*'], ...more })
    tokens[name] = token
  }
})
afterAll(async () => {
  await gateway.close()
  await loops
  rmSync(home, { recursive: true })
})

const get = (where: string, token = 'all') =>
  fetch(`${base}/api/v1/catalog/basemaps/${where}`, { headers: { authorization: `Bearer ${tokens[token]}` } })
const listed = async (): Promise<Archive[]> =>
  ((await (await get('world/archives')).json()) as { items: Archive[] }).items

/** Runs a client until it ends, and returns what it prints. */
async function keep(
  [command, script]: (typeof CLIENTS)[number],
  file: string,
  more: readonly string[] = [],
  from = base,
): Promise<string> {
  const header = `Authorization: Bearer ${tokens.all}`
  return (await run(command, [script, from, 'world', file, '--header', header, ...more])).stdout
}

/** The versions that a client says it has reached, in their order. */
const reached = (said: string) => [...said.matchAll(/has the version (\S+) now/g)].map(([, version]) => version)

/** A connection to the gateway that breaks in the middle of the first download of each archive. Notes the `Range` of each download. */
async function cutting(): Promise<{ readonly url: string; readonly ranges: string[]; close(): void }> {
  const ranges: string[] = []
  const cut = new Set<string>()
  const server = http.createServer((request, response) => {
    const { url = '', headers } = request
    const isDownload = /\/archives\/[^?]/.test(url)
    if (isDownload) ranges.push(headers.range ?? 'all')
    http.get(`${base}${url}`, { headers }, async (answer) => {
      response.writeHead(answer.statusCode as number, answer.headers)
      if (!isDownload || cut.has(url)) return answer.pipe(response)
      cut.add(url)
      const bytes = Buffer.concat(await answer.toArray())
      return response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, ranges, close: () => server.close() }
}

/** Every tile of an archive, by its address. */
async function tilesIn(file: string): Promise<Record<string, string>> {
  const bytes = readFileSync(file)
  const source = {
    getKey: () => file,
    getBytes: async (offset: number, length: number) => ({
      data: new Uint8Array(bytes.subarray(offset, offset + length)).buffer,
    }),
  }
  const found: Record<string, string> = {}
  const archive = new PMTiles(source)
  for (let x = 0; x < 16; x++)
    for (let y = 0; y < 16; y++) {
      const tile = await archive.getZxy(4, x, y)
      if (tile !== undefined) found[`${x}/${y}`] = Buffer.from(tile.data).toString('base64')
    }
  return found
}

test('a copy goes from version 3 to 9 by a series of deltas that the client finds, byte for byte', async () => {
  await exported('v3')
  for (const n of VERSIONS.slice(1)) await exported(`v${n}`, `v${n - 1}`)
  await exported('v7', 'v4')
  const whole = await exported('v9')
  const wanted = path.join(home, 'exports', `${whole.id}.pmtiles`)
  for (const client of CLIENTS) {
    const file = path.join(home, `${client[0]}.pmtiles`)
    await keep(client, file, ['--version', 'v3'])
    expect(reached(await keep(client, file))).toEqual(['v4', 'v7', 'v8', 'v9'])
    expect(await keep(client, file)).toContain('has the version v9 already')
    expect(await tilesIn(file)).toEqual(await tilesIn(wanted))
    if (client[0] === 'node') expect(readFileSync(file).equals(readFileSync(wanted))).toBe(true)
  }
})

test.each(CLIENTS)('%s goes on with a download that was cut in the middle', async (...client) => {
  const gate = await cutting()
  const file = path.join(home, `cut-${client[0]}.pmtiles`)
  await keep(client, file, ['--version', 'v8'])
  const before = readFileSync(file)
  try {
    await expect(keep(client, file, [], gate.url)).rejects.toThrow()
    expect(readFileSync(file).equals(before)).toBe(true)
    const half = statSync(`${file}.delta`).size
    expect(half).toBeGreaterThan(0)
    expect(reached(await keep(client, file, [], gate.url))).toEqual(['v9'])
    expect(gate.ranges).toEqual(['all', `bytes=${half}-`])
  } finally {
    gate.close()
  }
  expect(await tilesIn(file)).toEqual(await tilesIn(path.join(home, `${client[0]}.pmtiles`)))
  expect(readdirSync(home).filter((name) => name.startsWith(`cut-${client[0]}`))).toEqual([path.basename(file)])
})

test('archives that a reader sees are whole, of versions that are served, and of basemaps that are granted', async () => {
  const part = await admin('POST', '/exports', { basemap_code: 'world', version: 'v5', bounds: [0, 0, 10, 10] })
  await vi.waitFor(async () => expect((await admin('GET', `/exports/${part.id}`)).finished_at).not.toBeNull(), {
    timeout: 90_000,
  })
  const before = await listed()
  expect(before.map(({ id }) => id)).not.toContain(part.id)
  const found = await (await get('world/archives?from_version=v3&sort=version&limit=1')).json()
  expect(found).toMatchObject({ items: [{ version: 'v4', from_version: 'v3' }], total: 1 })
  expect((await get('world/archives?form_version=v3')).status).toBe(400)
  const newest = before.find(({ version, from_version }) => version === 'v9' && from_version === null) as Archive
  expect(newest.download_url).toMatch(new RegExp(`/api/v1/catalog/basemaps/world/archives/${newest.id}$`))
  const ranged = await fetch(`${base}/api/v1/catalog/basemaps/world/archives/${newest.id}`, {
    headers: { authorization: `Bearer ${tokens.all}`, range: 'bytes=0-6' },
  })
  expect([ranged.status, await ranged.text()]).toEqual([206, 'PMTiles'])
  const statuses = async (where: string) =>
    Promise.all(['all', 'other', 'bounded'].map(async (token) => (await get(where, token)).status))
  expect(await statuses('world/archives')).toEqual([200, 403, 403])
  expect(await statuses(`world/archives/${newest.id}`)).toEqual([200, 403, 403])
  expect((await get(`world/archives/${part.id}`)).status).toBe(404)
  expect((await get('nowhere/archives')).status).toBe(404)
  await admin('PATCH', '/basemaps/world/versions/v9', { withdrawn: true })
  expect((await listed()).filter(({ version }) => version === 'v9')).toEqual([])
  expect((await get(`world/archives/${newest.id}`)).status).toBe(404)
})
