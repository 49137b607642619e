import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FileServer, startNginxFiles } from '../harness/load-balancers.js'
import { freePort } from '../harness/ports.js'
import { MOBILE_LINE, SlowLine } from '../harness/slow-line.js'
import { useGateway } from '../harness/use-gateway.js'
import { CENTRE, CITY_STYLE, cityData, ICON } from './city.js'
import { type ClientPage, MAPLIBRE, useClientPages } from './pages.js'

/** The goal: the time of the gateway against that of the same files from nginx. */
const MOST_TIMES_NGINX = 1.3
const ROUNDS = Number(process.env.ROUNDS ?? 7)
const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
const MINUTES = 60_000

const ports = { gateway: await freePort(), nginx: await freePort() }
const gateway = useGateway({ env: { API_BASE_URL: `http://127.0.0.1:${ports.gateway}` } }, async (started) => {
  const write = async (name: string, content: string) => {
    await mkdir(dirname(join(started.home, name)), { recursive: true })
    await writeFile(join(started.home, name), content)
  }
  for (const [code, content] of Object.entries(cityData())) await write(`vectors/${code}.geojson`, content)
  await write('styles/city/style.json', JSON.stringify(CITY_STYLE))
  await write('styles/city/sprite/place.svg', ICON)
  await started.admin.scanSource('vectors', 'vector', join(started.home, 'vectors'))
  await started.admin.scanSource('styles', 'style', join(started.home, 'styles'))
  await mkdir(ARTIFACTS, { recursive: true })
})
const openClient = useClientPages({ maplibre: MAPLIBRE })

let folder: string
let nginx: FileServer
const lines: SlowLine[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-test-files-'))
  nginx = await startNginxFiles(folder)
})
afterAll(async () => {
  for (const line of lines) await line.close()
  await nginx?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('the first picture on a slow line takes at most 1.3 times that of nginx', { timeout: 10 * MINUTES }, async () => {
  const [ours, files] = [
    await SlowLine.start(ports.gateway, () => gateway().url, MOBILE_LINE),
    await SlowLine.start(ports.nginx, () => nginx.url, MOBILE_LINE),
  ]
  lines.push(ours, files)
  const { token } = await gateway().issueToken({ vector_codes: ['*'] })
  for (const code of Object.keys(cityData())) {
    const status = async () => (await fetch(`${gateway().url}/vectors/${code}/tilejson.json?token=${token}`)).status
    await expect.poll(status, { timeout: MINUTES }).toBe(200)
  }
  const path = `/styles/city/style.json?token=${token}`
  const loaded = await exportMap(ours, path, token)
  const rows: { gateway: number; nginx: number; ratio: number }[] = []
  const bytes = { gateway: 0, nginx: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const first = await firstPicture(`${ours.url}${path}`, ours)
    const second = await firstPicture(`${files.url}/styles/city/style.json`, files)
    bytes.gateway = first.bytes
    bytes.nginx = second.bytes
    rows.push({ gateway: first.ms, nginx: second.ms, ratio: Math.round((100 * first.ms) / second.ms) / 100 })
  }
  console.table(rows)
  const ratio = median(rows.map((row) => row.gateway)) / median(rows.map((row) => row.nginx))
  console.log({ ratio, worst: Math.max(...rows.map((row) => row.ratio)), requests: loaded, bytes })
  // A file that is missing makes a map ask for others.
  expect(files.targets.size).toBe(loaded)
  expect(ratio).toBeLessThanOrEqual(MOST_TIMES_NGINX)
})

/** Writes all that a first visit loads as files, with the addresses of nginx in them and without the token; answers how many. */
async function exportMap(line: SlowLine, path: string, token: string): Promise<number> {
  const { page } = await openClient('maplibre')
  await draw(page, `${line.url}${path}`)
  await page.close()
  for (const target of line.targets) {
    const url = `${line.url}${target}`
    const answer = await fetch(url)
    expect([url, answer.status]).toEqual([url, 200])
    const file = join(folder, decodeURIComponent(new URL(url).pathname))
    const isText = /json/.test(answer.headers.get('content-type') ?? '')
    const content = Buffer.from(await answer.arrayBuffer())
    const elsewhere = () =>
      content
        .toString()
        .replaceAll(`127.0.0.1:${ports.gateway}`, `127.0.0.1:${ports.nginx}`)
        .replaceAll(new RegExp(`[?&]token=${token}`, 'g'), '')
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, isText ? elsewhere() : content)
  }
  return line.targets.size
}

/** One visit with nothing cached, in milliseconds until everything is drawn. */
async function firstPicture(style: string, line: SlowLine): Promise<{ ms: number; bytes: number }> {
  const { page } = await openClient('maplibre')
  const before = line.received
  const ms = await draw(page, style)
  await writeFile(
    join(ARTIFACTS, `first-picture-${new URL(style).port === String(ports.nginx) ? 'nginx' : 'gateway'}.png`),
    await page.screenshot(),
  )
  await page.close()
  return { ms, bytes: line.received - before }
}

function draw(page: ClientPage['page'], style: string): Promise<number> {
  return page.evaluate(`(async () => {
    const maplibregl = await import('./maplibre-gl.mjs')
    const begun = performance.now()
    const map = new maplibregl.Map({ container: 'map', center: ${JSON.stringify(CENTRE)}, zoom: 14.5, fadeDuration: 0, attributionControl: false,
      style: ${JSON.stringify(style)} })
    await map.once('idle')
    return Math.round(performance.now() - begun)
  })()`)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number
}
