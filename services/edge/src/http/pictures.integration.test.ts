import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Renderer } from '../supervisor/renderer.js'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const LAST_TILE = 3
const THEN = new Date('2026-01-01T00:00:00Z')
let home: string
let running: RunningEdge
const renderer = new Renderer()
const reasons: string[] = []

/** A colour for each tile of a zoom, by which a picture shows its place. */
const colourOf = (x: number, y: number) => ({ r: 40 + 50 * x, g: 40 + 50 * y, b: 90 })

async function writeTiles(): Promise<void> {
  for (let z = 0; z <= 2; z++)
    for (let x = 0; x < 2 ** z; x++)
      for (let y = 0; y < 2 ** z; y++) {
        const file = path.join(home, 'tiles', String(z), String(x), `${y}.png`)
        fs.mkdirSync(path.dirname(file), { recursive: true })
        const background = colourOf(x, y)
        await sharp({ create: { width: 256, height: 256, channels: 3, background } })
          .png()
          .toFile(file)
      }
}

const PLACE = { type: 'raster', url: 'gateway://basemaps/place', tileSize: 256, attribution: '© Style' }
/** Sources of which the picture shows nothing: without any tile there, that are the picture itself, and on a host that may not be asked. */
const NOTHING_THERE = {
  sparse: { ...PLACE, url: 'gateway://basemaps/sparse' },
  itself: { type: 'raster', url: '/styles/itself/tilejson.json', tileSize: 512 },
  foreign: { type: 'raster', tiles: ['http://127.0.0.1:9/{z}/{x}/{y}.png'], tileSize: 256 },
}

function style(code: string, revision: number, ground: string, source: object = PLACE): StoredStyle {
  const document = {
    version: 8,
    sources: { tiles: source },
    layers: [
      { id: 'ground', type: 'background', paint: { 'background-color': ground } },
      {
        id: 'tiles',
        type: 'raster',
        source: 'tiles',
        paint: { 'raster-opacity': 0.5, 'raster-resampling': 'nearest' },
      },
    ],
  }
  const [, basemap] = /^gateway:\/\/basemaps\/(\w+)$/.exec('url' in source ? String(source.url) : '') ?? []
  const sources =
    basemap === undefined ? [] : [{ name: 'tiles', kind: 'basemap', code: basemap, version: null } as const]
  return {
    ...{ code, name: code, sourceCode: 's', sourcePath: home, sourceEnabled: true, path: home },
    document: JSON.stringify(document),
    dependencies: { sources, fonts: [], icons: [], sprites: [], files: [], hosts: [] },
    assets: { sprites: [], files: [] },
    ...{ fingerprint: String(revision), revision, available: true, withdrawn: false, createdAt: THEN, updatedAt: THEN },
  }
}

const rows = (ground: string, revision: number) =>
  nextCatalog(
    EMPTY_CATALOG,
    {
      codes: null,
      rows: [
        storedBasemap(
          'place',
          [storedVersion('v1', { path: path.join(home, 'tiles'), maxZoom: 2, attribution: '© Place' })],
          {
            sourcePath: home,
            defaultVersion: 'v1',
          },
        ),
        storedBasemap('sparse', [storedVersion('v1', { path: path.join(home, 'none'), maxZoom: 2 })], {
          sourcePath: home,
          defaultVersion: 'v1',
        }),
      ],
    },
    { codes: null, rows: [] },
    {
      styles: {
        codes: null,
        rows: [
          style('day', revision, ground),
          ...Object.entries(NOTHING_THERE).map(([code, source]) => style(code, revision, ground, source)),
        ],
      },
      fonts: [],
    },
  )

beforeAll(async () => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'pictures-')))
  await writeTiles()
  running = await runEdge({
    port: await freePort(),
    catalog: rows('#000000', 1),
    dataDir: path.join(home, 'data'),
    controlPlane: 'http://[::1]:1',
    async draw(task, caller) {
      const drawn = await renderer.draw(task, caller)
      if (drawn !== 'busy' && !drawn.ok) reasons.push(drawn.reason)
      return drawn
    },
  })
  running.edge.signed.setKeys([{ secret: Buffer.alloc(32, 7), expiresAt: null }])
})
afterAll(async () => {
  renderer.close()
  await running.server.drain(1)
  running.edge.tiles.closeAll()
  fs.rmSync(home, { recursive: true, force: true })
})

const get = (address: string, token = running.token) =>
  fetch(`${running.url}${address}`, { headers: { authorization: `Bearer ${token}` } })

/** A machine with more to do takes longer than the time that a request waits. */
async function picture(address: string): Promise<Buffer> {
  for (;;) {
    const answer = await get(address)
    const body = Buffer.from(await answer.arrayBuffer())
    if (answer.status === 503 && answer.headers.has('retry-after') && body.includes('being drawn')) continue
    expect([answer.status, answer.headers.get('content-type')], `${body.toString('latin1')} ${reasons}`).toEqual([
      200,
      'image/png',
    ])
    return body
  }
}

async function pixel(image: Buffer, left: number, top: number): Promise<number[]> {
  const cut = await sharp(image).removeAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer()
  return [...cut]
}

const half = (x: number, y: number) => {
  const { r, g, b } = colourOf(x, y)
  return [r, g, b].map((value) => expect.closeTo(value / 2, -0.5))
}

test('tiles of a style show their place without a seam, and are drawn once for a square', {
  timeout: 300_000,
}, async () => {
  const tiles = new Map<string, Buffer>()
  for (const x of [0, 1, LAST_TILE]) tiles.set(`${x}`, await picture(`/styles/day/2/${x}/1.png?size=256`))
  for (const [x, tile] of tiles) {
    const place = Number(x)
    expect(await sharp(tile).metadata()).toMatchObject({ width: 256, height: 256, format: 'png' })
    // The zoom of the source is one above that of a tile of 256 points in MapLibre.
    for (const [left, top] of [
      [0, 0],
      [255, 0],
      [0, 255],
      [255, 255],
      [128, 128],
    ] as const)
      expect(await pixel(tile, left, top), `${x} ${left},${top}`).toEqual(half(place, 1))
  }
  const files = fs.readdirSync(path.join(home, 'data/cache/tiles'), { recursive: true, encoding: 'utf8' })
  expect(files.filter((name) => name.endsWith('.png'))).toHaveLength(16)
  // The whole world at zoom 0, smaller than what is drawn around it.
  const world = await picture('/styles/day/0/0/0.png?size=256')
  expect(await sharp(world).metadata()).toMatchObject({ width: 256 })
  const described = (await (await get('/styles/day/tilejson.json?size=256')).json()) as {
    readonly tiles: readonly string[]
    readonly attribution: string
  }
  expect(described.attribution).toBe('© Style, © Place')
  expect(described.tiles[0]).toMatch(/\/styles\/day\/\{z\}\/\{x\}\/\{y\}\.png\?size=256&v=/)
})

test.each(Object.keys(NOTHING_THERE))(
  'a style is drawn without a source of which nothing is there: %s',
  {
    timeout: 300_000,
  },
  async (code) => {
    const reasonsBefore = reasons.length
    expect(await pixel(await picture(`/styles/${code}/static/0,0,1/60x40.png`), 30, 20)).toEqual([0, 0, 0])
    expect(reasons.slice(reasonsBefore)).toEqual([])
  },
)

test('a static map has its marker at its place, and a change of the style changes it', {
  timeout: 300_000,
}, async () => {
  const address = '/styles/day/static/0,0,1/200x200.png?marker=0,0,00ff00&attribution=false'
  const before = await picture(address)
  // The pin stands above its place.
  expect(await pixel(before, 100, 92)).toEqual([0, 255, 0])
  Object.assign(running.edge.freshness, { catalog: rows('#ffffff', 2) })
  const after = await picture(address)
  expect(after.equals(before)).toBe(false)
  const [red = 0] = await pixel(after, 10, 10)
  const [darker = 0] = await pixel(before, 10, 10)
  expect(red - darker).toBeGreaterThan(100)
})

test('a token without the grants of the sources, a disabled one, and an edge without Chromium refuse', async () => {
  const [poor, disabled] = [createToken(), createToken()]
  running.storedTokens.set(tokenDigest(poor).toString('hex'), { ...READER, id: 'poor', basemaps: new Set(['other']) })
  running.storedTokens.set(tokenDigest(disabled).toString('hex'), { ...READER, id: 'off', disabled: true })
  for (const address of [
    '/styles/day/2/0/1.png?size=256',
    '/styles/day/static/0,0,1/20x20.png',
    '/styles/day/tilejson.json',
  ]) {
    expect((await get(address, poor)).status, address).toBe(403)
    expect((await get(address, disabled)).status, address).toBe(401)
  }
  for (const address of ['static/0,0,1/3000x20.png', '0/0/0.png?size=300', 'tilejson.json?size=300'])
    expect((await get(`/styles/day/${address}`)).status, address).toBe(400)
  expect((await get('/styles/none/0/0/0.png')).status).toBe(404)
})

test('a browser that is killed is replaced, and none is left after the last', { timeout: 300_000 }, async () => {
  await picture('/styles/day/static/10,0,1/50x50.png')
  const browsers = () =>
    fs.readdirSync('/proc').filter((name) => {
      if (!/^\d+$/.test(name)) return false
      try {
        return fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(`gateway-renderer-${children()[0]}-`)
      } catch {
        return false
      }
    })
  const killed = browsers()
  expect(killed.length).toBeGreaterThan(0)
  for (const pid of killed) {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended with its parent.
    }
  }
  await picture('/styles/day/static/20,0,1/50x50.png')
  expect(children()).toHaveLength(1)
  const left = browsers()
  renderer.close()
  // A process that has ended may stay in the list as a zombie: the first process of a container need not collect it.
  await expect.poll(() => left.filter((pid) => browsers().includes(pid)), { timeout: 60_000 }).toEqual([])
})

/** The renderer's process, a child of this one. */
function children(): string[] {
  return fs
    .readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    .split(' ')
    .filter((pid) => {
      try {
        return pid !== '' && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('renderer/dist/main.js')
      } catch {
        return false
      }
    })
}
