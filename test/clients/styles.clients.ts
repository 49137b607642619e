import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { type ClientPage, MAPLIBRE, useClientPages } from './pages.js'
import { drawnFeatures } from './style-features.js'

const execute = promisify(execFile)
const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
/** Style documents of others, each as NAME/style.json, which this repository does not contain. */
const STYLES = fileURLToPath(new URL('../../node_modules/.cache/clients/styles/', import.meta.url))

const SIZE = 512
const CENTER = [10, 50] as const
const ZOOMS = [5.5, 10, 14.3] as const
/** A pixel differs if a channel does by more than this, as one in 25 does for pixelmatch; at most one in a thousand may. */
const TOLERANCE = 10
const DIFFERENT = 0.001

interface Layer {
  readonly layout?: Record<string, unknown>
  readonly 'source-layer'?: string
}
interface Style {
  readonly sprite?: unknown
  readonly sources: Record<string, { readonly type: string }>
  readonly layers: readonly Layer[]
}

let token: string
let names: string[] = []
const gateway = useGateway({}, async (started) => {
  const { home, admin } = started
  names = (await readdir(STYLES).catch(() => [])).sort()
  await mkdir(ARTIFACTS, { recursive: true })
  await mkdir(join(home, 'sets'), { recursive: true })
  for (const name of names) {
    const folder = join(home, 'styles', name)
    await mkdir(folder, { recursive: true })
    const given = JSON.parse(await readFile(join(STYLES, name, 'style.json'), 'utf8')) as Style
    await makeTiles(home, name, given)
    const sprites = (await readdir(join(STYLES, name))).filter((file) => file.startsWith('sprite'))
    for (const file of sprites) await copyFile(join(STYLES, name, file), join(folder, file))
    await writeFile(join(folder, 'style.json'), JSON.stringify(atGateway(name, given, sprites.length > 0)))
  }
  await admin.scanSource('sets', 'basemap', join(home, 'sets'))
  await admin.scanSource('styles', 'style', join(home, 'styles'))
  token = (await started.issueToken({ basemap_codes: ['*'] })).token
})
const openClient = useClientPages({ maplibre: MAPLIBRE })

/** The style with vectors of this gateway, a font that it has, and the sprite of its folder, if it has one. */
function atGateway(name: string, { sprite: _, ...style }: Style, hasSprite: boolean): object {
  const sources = Object.fromEntries(
    Object.entries(style.sources)
      .filter(([, { type }]) => type === 'vector')
      .map(([id]) => [id, { type: 'vector', url: `gateway://basemaps/${name}-tiles` }]),
  )
  const layers = style.layers
    .filter((layer) => !('source' in layer) || String(layer.source) in sources)
    .map((layer) =>
      layer.layout?.['text-field'] === undefined
        ? layer
        : { ...layer, layout: { ...layer.layout, 'text-font': ['Noto Sans Regular'] } },
    )
  const sprite = hasSprite ? { sprite: `gateway://sprites/${name}` } : {}
  return { ...style, ...sprite, sources, layers, glyphs: 'gateway://fonts' }
}

/** Makes vector tiles that have a feature for each layer of the style, with the properties for which it asks. */
async function makeTiles(home: string, name: string, style: Style): Promise<void> {
  const folder = join(home, `features-${name}`)
  await mkdir(folder)
  const collections = drawnFeatures(style.layers, CENTER)
  const path = join(home, 'sets', `${name}-tiles.mbtiles`)
  const file = join(home, `${name}.gpkg`)
  for (const [layer, features] of collections) {
    const source = join(folder, `${layer}.geojson`)
    await writeFile(source, JSON.stringify({ type: 'FeatureCollection', features }))
    await execute('ogr2ogr', ['-f', 'GPKG', '-update', '-append', file, source, '-nln', layer, '-nlt', 'GEOMETRY'])
  }
  await execute('ogr2ogr', ['-f', 'MBTILES', path, file, '-dsco', 'MINZOOM=4', '-dsco', 'MAXZOOM=14'])
}

test('pictures of real styles are those of a visible page', async () => {
  expect(names).not.toEqual([])
  const { page } = await openClient('maplibre')
  await page.setViewportSize({ width: SIZE, height: SIZE })
  await page.addStyleTag({ content: `#map { width: ${SIZE}px; height: ${SIZE}px }` })
  for (const name of names)
    for (const zoom of ZOOMS) {
      const drawn = await picture(`/styles/${name}/static/${CENTER},${zoom}/${SIZE}x${SIZE}.png?attribution=false`)
      const seen = await visible(page, `${gateway().url}/styles/${name}/style.json?token=${token}`, zoom)
      await writeFile(join(ARTIFACTS, `style-${name}-${zoom}-drawn.png`), drawn)
      await writeFile(join(ARTIFACTS, `style-${name}-${zoom}-visible.png`), seen)
      const { share, colours } = await compared(drawn, seen)
      console.info(`${name} ${zoom}: ${(share * 100).toFixed(3)} % of the pixels differ, ${colours} colours`)
      expect.soft([name, zoom, share < DIFFERENT, colours > 3]).toEqual([name, zoom, true, true])
    }
}, 1_200_000)

async function picture(address: string): Promise<Buffer> {
  for (;;) {
    const answer = await fetch(gateway().url + address, { headers: { 'x-access-token': token } })
    const body = Buffer.from(await answer.arrayBuffer())
    if (answer.status === 503 && answer.headers.has('retry-after')) continue
    expect(answer.status, body.toString('latin1').slice(0, 500)).toBe(200)
    return body
  }
}

async function visible(page: ClientPage['page'], style: string, zoom: number): Promise<Buffer> {
  await page.evaluate(`(async () => {
    window.seen?.remove()
    const maplibregl = await import('./maplibre-gl.mjs')
    window.seen = new maplibregl.Map({ container: 'map', fadeDuration: 0, attributionControl: false, localIdeographFontFamily: false,
      center: ${JSON.stringify(CENTER)}, zoom: ${zoom}, style: ${JSON.stringify(style)} })
    await new Promise((resolve) => seen.once('idle', resolve))
  })()`)
  return page.screenshot()
}

async function compared(one: Buffer, other: Buffer): Promise<{ share: number; colours: number }> {
  const [a, b] = await Promise.all([one, other].map((image) => sharp(image).removeAlpha().raw().toBuffer()))
  if (a === undefined || b === undefined || a.length !== b.length) return { share: 1, colours: 0 }
  const colours = new Set<number>()
  let differ = 0
  for (let i = 0; i < a.length; i += 3) {
    colours.add(a.readUIntBE(i, 3))
    if ([0, 1, 2].some((channel) => Math.abs((a[i + channel] ?? 0) - (b[i + channel] ?? 0)) > TOLERANCE)) differ++
  }
  return { share: differ / (a.length / 3), colours: colours.size }
}
