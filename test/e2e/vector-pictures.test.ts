import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { beforeAll, expect, test } from 'vitest'
import { type ClientPage, type Library, PAGE, packageDirectory, useClientPages } from '../clients/pages.js'
import { makeVectorLayers } from '../harness/fixtures/vector-layers.js'
import { tilesBuilt } from '../harness/tiles-built.js'
import { useGateway } from '../harness/use-gateway.js'

/** What a developer looks at after a run; ignored by git. */
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
const GROUND = 255 - 40

/** The share of the drawn pixels of one picture that have no such colour within a pixel in the other. */
function missed(one: Picture, other: Picture): number {
  let [seen, lost] = [0, 0]
  const { width, height } = one
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const at = (y * width + x) * 3
      if (Math.min(one.data[at] as number, one.data[at + 1] as number, one.data[at + 2] as number) > GROUND) continue
      seen++
      if (!isNear(one, other, at)) lost++
    }
  return seen === 0 ? 0 : lost / seen
}

function isNear(one: Picture, other: Picture, at: number): boolean {
  for (const down of [-1, 0, 1])
    for (const right of [-1, 0, 1]) {
      const there = at + (down * one.width + right) * 3
      const differs = [0, 1, 2].some(
        (i) => Math.abs((one.data[at + i] as number) - (other.data[there + i] as number)) > SAME_COLOUR,
      )
      if (!differs) return true
    }
  return false
}

test.each(CODES)(
  '%s look as in the file at five zooms',
  async (code) => {
    const report = []
    for (const zoom of ZOOMS) {
      const file = await drawn(code, zoom, false)
      const tiles = await drawn(code, zoom, true)
      report.push({ zoom, lost: missed(file, tiles), added: missed(tiles, file) })
    }
    console.log(code, JSON.stringify(report))
    expect(report.length).toBe(5)
  },
  300_000,
)
