import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { beforeAll, expect, test } from 'vitest'
import { type ClientPage, type Library, PAGE, packageDirectory, useClientPages } from '../clients/pages.js'
import { makeVectorLayers } from '../harness/fixtures/vector-layers.js'
import { tilesBuilt } from '../harness/tiles-built.js'
import { useGateway } from '../harness/use-gateway.js'

/** Files that a developer looks at after a run; ignored by git. */
const ARTIFACTS = fileURLToPath(new URL('../artifacts/vectors/', import.meta.url))

/** Three colours by attribute. `draw` shows the tiles of a vector, or the features of its file as they are. */
const COMPARED: Library = {
  files: join(packageDirectory('maplibre-gl'), 'dist'),
  page: `${PAGE}<link rel="stylesheet" href="maplibre-gl.css"><script type="module">
import * as maplibregl from './maplibre-gl.mjs'
maplibregl.setWorkerUrl('./maplibre-gl-worker.mjs')
const colour = ['match', ['get', 'kind'], 0, '#c00000', 1, '#00a000', '#0000d0']
const kinds = {
  places: { type: 'circle', paint: { 'circle-radius': 2, 'circle-color': colour } },
  rivers: { type: 'line', paint: { 'line-width': 2, 'line-color': colour } },
  parcels: { type: 'fill', paint: { 'fill-antialias': false, 'fill-color': colour } },
}
window.draw = async ({ base, token, code, tiled, zoom, center }) => {
  const address = base + '/vectors/' + code + (tiled ? '/tilejson.json' : '.geojson') + '?token=' + token
  const source = tiled ? { type: 'vector', url: address } : { type: 'geojson', data: address, tolerance: 0 }
  const map = new maplibregl.Map({
    container: 'map', center, zoom, fadeDuration: 0, attributionControl: false,
    style: { version: 8, sources: { it: source }, layers: [{ id: 'it', source: 'it', ...kinds[code], ...(tiled && { 'source-layer': code }) }] },
  })
  window.discard = () => map.remove()
  await map.once('idle')
  return null
}
</script>`,
}

let token: string
const gateway = useGateway({}, async (started) => {
  await mkdir(ARTIFACTS, { recursive: true })
  const folder = join(started.home, 'vectors')
  await mkdir(folder)
  await makeVectorLayers(folder)
  await started.admin.scanSource('vectors', 'vector', folder)
  token = (await started.issueToken({ vector_codes: ['*'] })).token
  for (const code of CODES) await tilesBuilt(started, code)
})

const CODES = ['places', 'rivers', 'parcels'] as const
const ZOOMS = [5, 7, 9, 11, 13] as const
const CENTER = [113.3, 23.05]

const openClient = useClientPages({ compared: COMPARED })
let client: ClientPage
beforeAll(async () => {
  client = await openClient('compared')
})

interface Picture {
  readonly data: Buffer
  readonly width: number
  readonly height: number
}

async function drawn(code: string, zoom: number, tiled: boolean): Promise<Picture> {
  await client.draw({ base: gateway().url, token, code, tiled, zoom, center: CENTER })
  const png = await client.picture()
  await writeFile(join(ARTIFACTS, `${code}-${zoom}-${tiled ? 'tiles' : 'file'}.png`), png)
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

/** Levels of a channel by which edges that are blended with the ground may differ. */
const SAME_COLOUR = 90
/** Levels of every channel above which a pixel is the ground. */
const GROUND = 215

/** The match that is looked for around a pixel: the same colour, or anything that is drawn; `reach` in pixels. */
interface Tolerance {
  readonly reach: number
  readonly colour: boolean
}

/** The share of the drawn pixels of one picture that the other one does not have. */
function missed(one: Picture, other: Picture, tolerance: Tolerance): number {
  let [seen, lost] = [0, 0]
  const { width, height } = one
  const { reach } = tolerance
  for (let y = reach; y < height - reach; y++)
    for (let x = reach; x < width - reach; x++) {
      const at = (y * width + x) * 3
      if (!isDrawn(one, at)) continue
      seen++
      if (!isNear(one, other, at, tolerance)) lost++
    }
  expect(seen).toBeGreaterThan(100)
  return lost / seen
}

function isDrawn({ data }: Picture, at: number): boolean {
  return Math.min(data[at] as number, data[at + 1] as number, data[at + 2] as number) <= GROUND
}

function isNear(one: Picture, other: Picture, at: number, { reach, colour }: Tolerance): boolean {
  for (let down = -reach; down <= reach; down++)
    for (let right = -reach; right <= reach; right++) {
      const there = at + (down * one.width + right) * 3
      if (colour ? hasColourOf(one, other, at, there) : isDrawn(other, there)) return true
    }
  return false
}

function hasColourOf(one: Picture, other: Picture, at: number, there: number): boolean {
  return [0, 1, 2].every(
    (i) => Math.abs((one.data[at + i] as number) - (other.data[there + i] as number)) <= SAME_COLOUR,
  )
}

/** Pixels of the ground that one picture shows amid what the other one draws without a gap. */
function gaps(whole: Picture, other: Picture): number {
  const { width, height } = whole
  let found = 0
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const at = (y * width + x) * 3
      const rows = [at - width * 3, at, at + width * 3]
      const isInside = rows.every((row) => [row - 3, row, row + 3].every((there) => isDrawn(whole, there)))
      if (isInside && !isDrawn(other, at)) found++
    }
  return found
}

/** The tolerance: at most this share of the drawn pixels has no pixel of its colour next to it in the other picture. */
const MOST_LOST = 0.02
const SAME: Tolerance = { reach: 1, colour: true }
/** Pixels between a point that is left out and one that is not. */
const THINNED: Tolerance = { reach: 4, colour: false }

async function difference(code: string, zoom: number, lost: Tolerance, added: Tolerance) {
  const [file, tiles] = [await drawn(code, zoom, false), await drawn(code, zoom, true)]
  return { zoom, lost: missed(file, tiles, lost), added: missed(tiles, file, added), gaps: gaps(file, tiles) }
}

const ALIKE = { lost: expect.toSatisfy(isLittle), added: expect.toSatisfy(isLittle) }
function isLittle(share: number): boolean {
  return share <= MOST_LOST
}

test.each(['rivers', 'parcels'])(
  '%s look as in the file at five zooms: colours within a pixel, and no gaps between neighbours',
  async (code) => {
    for (const zoom of ZOOMS) {
      // Only areas have neighbours; between lines that are drawn closer than a pixel, a pixel may be either's.
      const gaps = code === 'parcels' ? 0 : expect.any(Number)
      expect(await difference(code, zoom, SAME, SAME)).toEqual({ zoom, ...ALIKE, gaps })
    }
  },
  300_000,
)

test('points are thinned evenly at five zooms: none of a cloud is far from one that is drawn, and none is where the file has none', async () => {
  const nowhere: Tolerance = { reach: 1, colour: false }
  for (const zoom of ZOOMS) expect(await difference('places', zoom, THINNED, nowhere)).toMatchObject({ zoom, ...ALIKE })
  // Nothing is left out there.
  expect(await difference('places', 13, SAME, SAME)).toEqual({ zoom: 13, ...ALIKE, gaps: 0 })
}, 300_000)

/** Requests a rendered tile until it is drawn: a busy machine needs longer than a request waits. */
async function rendered(address: string): Promise<Buffer> {
  for (;;) {
    const answer = await fetch(`${gateway().url}${address}`, { headers: { 'x-access-token': token } })
    const body = Buffer.from(await answer.arrayBuffer())
    if (answer.status === 503 && answer.headers.has('retry-after')) continue
    expect(
      [answer.status, answer.headers.get('content-type')],
      `${address} ${body.toString('latin1', 0, 200)}`,
    ).toEqual([200, 'image/png'])
    return body
  }
}

test('the plain style of a vector is drawn, with the same tiles in every protocol', async () => {
  const [z, x, y] = [9, 417, 222]
  const own = await rendered(`/styles/parcels/${z}/${x}/${y}.png`)
  const { channels } = await sharp(own).stats()
  expect(Math.max(...channels.slice(0, 3).map(({ stdev }) => stdev))).toBeGreaterThan(1)
  const kvp = `SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&STYLE=default&TILEMATRIX=${z}&TILEROW=${y}&TILECOL=${x}`
  for (const address of [
    `/wmts?${kvp}&LAYER=parcels&TILEMATRIXSET=WebMercatorQuadx2&FORMAT=image/png`,
    `/tms/1.0.0/parcels/${z}/${x}/${2 ** z - 1 - y}.png`,
    `/ogc/collections/parcels/map/tiles/WebMercatorQuadx2/${z}/${y}/${x}`,
    `/arcgis/rest/services/parcels/MapServer/tile/${z}/${y}/${x}`,
    `/tianditu/parcels_w/wmts?${kvp}&LAYER=parcels&TILEMATRIXSET=w&FORMAT=tiles`,
  ])
    expect((await rendered(address)).equals(own), address).toBe(true)
  const side = 40_075_016.685578488 / 2 ** z
  const [west, north] = [x * side - 20_037_508.342789244, 20_037_508.342789244 - y * side]
  const view = `CRS=EPSG:3857&BBOX=${west},${north - side},${west + side},${north}&WIDTH=512&HEIGHT=512`
  const map = await rendered(`/wms?REQUEST=GetMap&VERSION=1.3.0&LAYERS=parcels&STYLES=&${view}&FORMAT=image/png`)
  const pixels = (png: Buffer) => sharp(png).ensureAlpha().raw().toBuffer()
  expect((await pixels(map)).equals(await pixels(own))).toBe(true)
}, 300_000)
