import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { type ClientPage, MAPLIBRE, useClientPages } from '../clients/pages.js'
import { useGateway } from '../harness/use-gateway.js'

const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
const [LON, LAT] = [118.78, 32.06] as const

type Place = readonly [x: number, y: number]
const at = ([x, y]: Place) => [LON + x * 0.001, LAT + y * 0.001]
const feature = (name: string | null, type: string, coordinates: unknown) => ({
  type: 'Feature',
  properties: name === null ? {} : { name },
  geometry: { type, coordinates },
})
const collection = (features: readonly object[]) => JSON.stringify({ type: 'FeatureCollection', features })

/** A fictional part of a city: streets, houses between them, and places in four scripts. */
const ROADS = ['中山路', '珠江路', '北京东路', '太平北路'].flatMap((name, i) => [
  feature(name, 'LineString', [at([-12, i * 4 - 6]), at([12, i * 4 - 6])]),
  feature(`${name.slice(0, -1)}街`, 'LineString', [at([i * 6 - 9, -9]), at([i * 6 - 9, 9])]),
])
const HOUSES = Array.from({ length: 60 }, (_, i): object => {
  const [x, y] = [(i % 12) * 2 - 11.5, Math.floor(i / 12) * 3 - 7]
  const ring: readonly Place[] = [
    [x, y],
    [x + 1, y],
    [x + 1, y + 0.8],
    [x, y + 0.8],
    [x, y],
  ]
  return feature(null, 'Polygon', [ring.map(at)])
})
const NAMES = [
  feature('新街口', 'Point', at([-6, 2])),
  feature('نانجينغ', 'Point', at([6, 2])),
  feature('Ngọc Tiếng Việt', 'Point', at([-6, -4])),
  feature('Müller', 'Point', at([6, -4])),
]

const data = (code: string) => ({ type: 'geojson', data: `gateway://vectors/${code}` })
const label = { 'text-field': ['get', 'name'], 'text-font': ['Noto Sans Bold'] }
const STYLE = {
  version: 8,
  name: '南京',
  center: [LON, LAT],
  zoom: 14,
  glyphs: 'gateway://fonts',
  sources: { roads: data('roads'), houses: data('houses'), names: data('names') },
  layers: [
    { id: 'ground', type: 'background', paint: { 'background-color': '#eeeeee' } },
    { id: 'houses', type: 'fill', source: 'houses', paint: { 'fill-color': '#c08040', 'fill-antialias': false } },
    { id: 'roads', type: 'line', source: 'roads', paint: { 'line-color': '#ffffff', 'line-width': 6 } },
    {
      id: 'road names',
      type: 'symbol',
      source: 'roads',
      layout: { ...label, 'symbol-placement': 'line', 'text-size': 16 },
      paint: { 'text-color': '#0000a0' },
    },
    {
      id: 'names',
      type: 'symbol',
      source: 'names',
      layout: { ...label, 'text-size': 24 },
      paint: { 'text-color': '#a00000' },
    },
  ],
}

const gateway = useGateway({ env: { ACCESS_LOG_EVERY: '1' } }, async ({ home, admin }) => {
  const write = async (name: string, content: string) => {
    const file = join(home, name)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, content)
  }
  await write('vectors/roads.geojson', collection(ROADS))
  await write('vectors/houses.geojson', collection(HOUSES))
  await write('vectors/names.geojson', collection(NAMES))
  await write('styles/nanjing/style.json', JSON.stringify(STYLE))
  await admin.scanSource('vectors', 'vector', join(home, 'vectors'))
  await admin.scanSource('styles', 'style', join(home, 'styles'))
  await mkdir(ARTIFACTS, { recursive: true })
})
const openClient = useClientPages({ maplibre: MAPLIBRE })

test('a labelled city draws with only the gateway; with a disabled token it is blank, and the log has the refusal', async () => {
  const { id, token, prefix } = await gateway().issueToken({ vector_codes: ['*'] })
  const { page } = await openClient('maplibre')
  const elsewhere: string[] = []
  const own = [new URL(gateway().url).origin, new URL(page.url()).origin]
  await page.route('**/*', async (route) => {
    const { origin } = new URL(route.request().url())
    if (own.includes(origin)) return route.continue()
    elsewhere.push(route.request().url())
    await route.abort()
  })
  const address = `${gateway().url}/styles/nanjing/style.json?token=${token}`
  const drawn = await drawMap(page, address)
  await writeFile(join(ARTIFACTS, 'style-city.png'), drawn)
  expect(elsewhere).toEqual([])
  const [houses, roads, roadNames, names] = await pixelsOf(drawn, [0xc08040, 0xffffff, 0x0000a0, 0xa00000])
  expect(houses).toBeGreaterThan(5000)
  expect(roads).toBeGreaterThan(5000)
  expect(roadNames).toBeGreaterThan(100)
  expect(names).toBeGreaterThan(500)
  await gateway().admin.expect(`/tokens/${id}/disable`, { method: 'POST' })
  const blank = await drawMap(page, address)
  expect((await sharp(blank).stats()).channels.every(({ min }) => min === 255)).toBe(true)
  const refused = new RegExp(`"path":"/styles/nanjing/style.json"[^\\n]*"status":401[^\\n]*"token_prefix":"${prefix}"`)
  await expect.poll(() => gateway().logs()).toMatch(refused)
})

async function drawMap(page: ClientPage['page'], style: string): Promise<Buffer> {
  await page.evaluate(`(async () => {
    window.drawn?.remove()
    const maplibregl = await import('./maplibre-gl.mjs')
    window.drawn = new maplibregl.Map({ container: 'map', fadeDuration: 0, attributionControl: false, localIdeographFontFamily: false,
      style: ${JSON.stringify(style)} })
    await new Promise((resolve) => { drawn.once('idle', resolve); drawn.on('error', ({ error }) => error.status === 401 && resolve()) })
  })()`)
  return page.screenshot()
}

/** Counts the pixels of each colour, within a tolerance. */
async function pixelsOf(picture: Buffer, colours: readonly number[]): Promise<number[]> {
  const { data: bytes, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return colours.map((colour) => {
    const wanted = [colour >> 16, (colour >> 8) & 255, colour & 255]
    let found = 0
    for (let i = 0; i < bytes.length; i += info.channels)
      if (wanted.every((value, channel) => Math.abs((bytes[i + channel] ?? 0) - value) < 12)) found++
    return found
  })
}
