import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { readGlyphRange } from '@gateway/styles/glyph-range.js'
import { HOSTILE_DRAWINGS } from '@gateway/styles/testing/hostile-drawings.js'
import { HOSTILE_FONTS } from '@gateway/styles/testing/hostile-fonts.js'
import { ZipArchive } from 'archiver'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import type { Gateway } from '../harness/gateway.js'
import { childrenOf, readProc } from '../harness/processes.js'
import { SteadyLoad } from '../harness/steady-load.js'
import { useGateway } from '../harness/use-gateway.js'

const STYLE = JSON.stringify({ version: 8, sources: {}, layers: [{ id: 'bg', type: 'background' }] })
const icon = (side: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}"><rect width="9" height="9" fill="blue"/></svg>`
const BOMB = HOSTILE_FONTS['one group of all code points of 32 bits']
const ENDLESS = HOSTILE_FONTS['glyphs whose drawing never ends']
const LETTER_A = 65
/** Limit: how much any process may grow. */
const MAX_GROWTH_KB = 300 * 1024
/** Time between two looks at the processes. The kernel keeps the peak of each, so a look may be late. */
const LOOK_MS = 200

type Files = Readonly<Record<string, string | Buffer>>

const styles: Files = {
  'fonts/Bomb/bomb.ttf': BOMB?.() ?? '',
  'fonts/Endless/endless.ttf': ENDLESS?.() ?? '',
  'many/style.json': STYLE,
  ...Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`many/icons/i${i}.svg`, icon(512)])),
  'slow/style.json': STYLE,
  'slow/icons/filters.svg': HOSTILE_DRAWINGS['wide filters']?.() ?? '',
  'slow/icons/picture.svg': HOSTILE_DRAWINGS['a huge picture inside']?.() ?? '',
  'slow/icons/huge.svg': HOSTILE_DRAWINGS['a huge size']?.() ?? '',
  'slow/icons/good.svg': icon(16),
  'swap/style.json': STYLE,
  'swap/icons/x.svg': icon(16),
}

async function place(root: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), content)
  }
}

async function zip(files: Files): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new ZipArchive({ zlib: { level: 6 } })
  for (const [name, data] of Object.entries(files)) archive.append(Buffer.from(data), { name })
  void archive.finalize()
  return new Uint8Array(await buffer(archive))
}

let [reader, greedy, tiles] = ['', '', '']
const gateway = useGateway({ edges: 1, edgeWorkers: 1 }, async (started: Gateway) => {
  // Node names the reason in standard error when the memory of a helper process is used up.
  started.allowErrors(/drawings of a style|fonts cannot be read|Error|FATAL|heap|memory|Native|^\s|^$|----|node::|v8::/)
  await makeTileFolder(join(started.home, 'maps/world/v1'), { maxZoom: 3 })
  await place(join(started.home, 'styles'), styles)
  await started.admin.scanSource('maps', 'basemap', join(started.home, 'maps'))
  const tokens = [0, 1, 2].map(() => started.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] }))
  ;[reader = '', greedy = '', tiles = ''] = (await Promise.all(tokens)).map(({ token }) => token)
})

/** The largest memory of each process of the gateway, and the first one that was seen. */
const memory = new Map<number, { first: number; peak: number }>()
let looks: NodeJS.Timeout
let load: SteadyLoad
const running = () => {
  const { controlPlane, edges } = gateway()
  const own = [controlPlane.process.pid, ...edges.map(({ process }) => process.pid)]
  const below = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(below)]
  return own.flatMap(below)
}
const sizeOf = (pid: number, field: string) =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readProc(pid, 'status'))?.[1] ?? 0)
function look(): void {
  for (const pid of running()) {
    const first = memory.get(pid)?.first ?? sizeOf(pid, 'VmRSS')
    memory.set(pid, { first, peak: Math.max(memory.get(pid)?.peak ?? 0, sizeOf(pid, 'VmHWM')) })
  }
}
const assetProcesses = () => running().filter((pid) => readProc(pid, 'cmdline').includes('asset-process'))

beforeAll(() => {
  look()
  looks = setInterval(look, LOOK_MS)
  const paths = Array.from({ length: 64 }, (_, i) => `${gateway().url}/tiles/world/v1/3/${i >> 3}/${i & 7}.png`)
  load = new SteadyLoad(paths, { 'x-access-token': tiles })
})
afterAll(() => clearInterval(looks))

const get = (path: string, token = reader) => fetch(`${gateway().url}${path}`, { headers: { 'x-access-token': token } })
// biome-ignore lint/suspicious/noExplicitAny: tests read documents without a schema
const json = async (answer: Response | Promise<Response>): Promise<any> => (await answer).json()
const send = async (body: Uint8Array<ArrayBuffer>, code: string) => {
  const headers = { authorization: `Bearer ${gateway().adminToken}`, 'content-type': 'application/zip' }
  const answer = await fetch(`${gateway().url}/api/v1/admin/styles/import?code=${code}`, {
    method: 'POST',
    body,
    headers,
  })
  return { status: answer.status, body: await json(answer) }
}

test('bad fonts and drawings of a source are one warning each, with the file, and its styles are served', async () => {
  const { admin, home } = gateway()
  const scan = await admin.scanSource('styles', 'style', join(home, 'styles'))
  expect(scan).toMatchObject({ status: 'succeeded', added: 3 })
  const { items } = await admin.expect<{ items: { message: string }[] }>(
    `/scan-sources/styles/scans/${scan.id}/warnings`,
  )
  const messages = items.map(({ message }) => message)
  for (const file of ['fonts/Bomb/bomb.ttf', 'fonts/Endless/endless.ttf', 'many/icons', 'slow/icons/huge.svg'])
    expect(
      messages.filter((one) => one.startsWith(`"${file}"`)),
      messages.join('\n'),
    ).toHaveLength(1)
  for (const code of ['many', 'slow', 'swap']) expect((await get(`/styles/${code}/style.json`)).status).toBe(200)
})

test('an import with a bad font is accepted with a warning, and later imports too', async () => {
  const bad = await send(await zip({ 'style.json': STYLE, 'fonts/Bomb/bomb.ttf': BOMB?.() ?? '' }), 'bomb')
  expect(bad).toMatchObject({ status: 200, body: { code: 'bomb', warnings: [{ code: 'style_font_broken' }] } })
  const good = await send(await zip({ 'style.json': STYLE }), 'good')
  expect(good).toMatchObject({ status: 200, body: { code: 'good' } })
  expect(good.body).not.toHaveProperty('warnings')
})

test('an import that fails leaves nothing, and what it would have replaced stays', async () => {
  const imports = join(gateway().dataDir, 'imports')
  const names = async () => (await readdir(imports, { recursive: true })).sort()
  const before = await names()
  for (const code of ['good', 'never']) {
    const refused = await send(await zip({ 'style.json': '{"version": 8}', 'icons/x.svg': icon(16) }), code)
    expect(refused.status).toBe(400)
  }
  expect(await names()).toEqual(before)
  expect((await get('/styles/good/style.json')).status).toBe(200)
})

test('too large a sprite is refused with the reason, and a drawing that hangs is left out of its sprite', async () => {
  for (const file of ['sprite.json', 'sprite@2x.json', 'sprite@2x.png']) {
    const answer = await get(`/styles/many/${file}`)
    expect([answer.status, await json(answer)]).toEqual([404, { error: expect.stringContaining('65536000 pixels') }])
  }
  // A picture in a drawing that cannot be read is blank, and its drawing is kept.
  expect(Object.keys(await json(get('/styles/slow/sprite@2x.json'))).sort()).toEqual(['good', 'picture'])
  expect((await get('/styles/slow/sprite@2x.png')).status).toBe(200)
})

test('a link that replaces a drawing after the scan is not followed out of the source', async () => {
  const { home } = gateway()
  await place(home, { 'outside/x.svg': icon(77) })
  await rm(join(home, 'styles/swap/icons/x.svg'))
  await symlink(join(home, 'outside/x.svg'), join(home, 'styles/swap/icons/x.svg'))
  expect(await json(get('/styles/swap/sprite.json'))).toEqual({})
  // The same for the folder of the drawings.
  await rename(join(home, 'styles/swap/icons'), join(home, 'styles/swap/before'))
  await symlink(join(home, 'outside'), join(home, 'styles/swap/icons'))
  expect(await json(get('/styles/swap/sprite@2x.json'))).toEqual({})
})

test('a token with many requests for a font does not keep another from its own', async () => {
  let answered = 0
  const ranges = Array.from({ length: 100 }, (_, i) => `/fonts/Noto%20Sans%20Regular/${i * 256}-${i * 256 + 255}.pbf`)
  const all = ranges.map((path) => get(path, greedy).finally(() => answered++))
  const own = await get('/fonts/Noto%20Sans%20Bold/0-255.pbf')
  expect(answered).toBeLessThan(ranges.length)
  expect(readGlyphRange(new Uint8Array(await own.arrayBuffer()), 0).has(LETTER_A)).toBe(true)
  expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]))
})

test('no process has ended or has grown beyond its limit, no tile was refused, and nothing is left running', async () => {
  await expect.poll(assetProcesses, { timeout: 120_000 }).toEqual([])
  const { answered, failures } = await load.stop()
  expect(failures).toEqual({})
  expect(answered).toBeGreaterThan(0)
  const { controlPlane, edges } = gateway()
  for (const { process } of [controlPlane, ...edges]) expect(process.running).toBe(true)
  const grown = [...memory].filter(([, { first, peak }]) => peak - first > MAX_GROWTH_KB)
  expect(grown).toEqual([])
})
