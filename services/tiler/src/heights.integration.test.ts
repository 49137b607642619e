import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishStaged } from '@gateway/contracts/tiling/publish.js'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeDem } from './testing/dem.js'
import { GLOBE_REFERENCE, Workshop } from './testing/workshop.js'

const SIDE = 400
const STEP = 0.00025
const [WEST, NORTH] = [116.3, 40.1] as const
const ZOOM = 13
const NODATA = -9999

const shop = new Workshop()
afterAll(() => shop.close())

const terrain = (column: number, row: number) => 1500 + 900 * Math.sin(column / 40) + 700 * Math.cos(row / 25)
/** Columns without heights. */
const isHole = (column: number) => column >= 250 && column < 300

let dem: string
let overlap: string
beforeAll(async () => {
  writeDem(shop.path('raw'), SIDE, (column, row) => (isHole(column) ? NODATA : terrain(column, row)))
  writeDem(shop.path('raw-overlap'), SIDE, (column, row) => (column < 100 ? NODATA : terrain(column, row) + 40))
  const corners = [WEST, NORTH, WEST + SIDE * STEP, NORTH - SIDE * STEP].map(String)
  const reference = ['-a_srs', 'EPSG:4490', '-a_ullr', ...corners, '-a_nodata', String(NODATA), '-ot', 'Float32']
  dem = await shop.make('dem.tif', 'gdal_translate', reference, shop.path('raw'))
  overlap = await shop.make('overlap.tif', 'gdal_translate', reference, shop.path('raw-overlap'))
})

/** Heights between the centres of the source's pixels; null where one of them has none. */
function sourceAt(longitude: number, latitude: number): number | null {
  const x = (longitude - WEST) / STEP - 0.5
  const y = (NORTH - latitude) / STEP - 0.5
  const [column, row] = [Math.floor(x), Math.floor(y)]
  if (column < 1 || row < 1 || column > SIDE - 3 || row > SIDE - 3) return null
  if ([column - 1, column, column + 1, column + 2].some(isHole)) return null
  const [fx, fy] = [x - column, y - row]
  const top = terrain(column, row) * (1 - fx) + terrain(column + 1, row) * fx
  const bottom = terrain(column, row + 1) * (1 - fx) + terrain(column + 1, row + 1) * fx
  return top * (1 - fy) + bottom * fy
}

type Encoding = 'terrarium' | 'mapbox'
/** As the two formats define it, not as our own code reads it. */
const HEIGHT = {
  terrarium: (r: number, g: number, b: number) => r * 256 + g + b / 256 - 32768,
  mapbox: (r: number, g: number, b: number) => -10000 + (r * 65536 + g * 256 + b) * 0.1,
}

/** Height and alpha of a pixel of Web Mercator. */
async function readerOf(layer: string, encoding: Encoding, format: string) {
  const tiles = new Map<string, Promise<Buffer>>()
  return async (z: number, px: number, py: number) => {
    const name = join(layer, `${z}/${px >> 8}/${py >> 8}.${format}`)
    if (!existsSync(name)) return null
    if (!tiles.has(name)) tiles.set(name, sharp(name).ensureAlpha().raw().toBuffer())
    const data = await tiles.get(name)!
    const at = ((py & 255) * 256 + (px & 255)) * 4
    return { height: HEIGHT[encoding](data[at]!, data[at + 1]!, data[at + 2]!), alpha: data[at + 3]! }
  }
}

const pixelOf = (longitude: number, latitude: number, zoom = ZOOM) => {
  const size = 256 * 2 ** zoom
  const y = 0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI)
  return [Math.floor(((longitude + 180) / 360) * size), Math.floor(y * size)] as const
}
const centreOf = (px: number, py: number, zoom = ZOOM) => {
  const size = 256 * 2 ** zoom
  const latitude = (Math.atan(Math.sinh(Math.PI * (1 - (2 * (py + 0.5)) / size))) * 180) / Math.PI
  return [((px + 0.5) / size) * 360 - 180, latitude] as const
}

/** Points that are spread evenly and look random (the R2 sequence). */
function* points() {
  for (let n = 1; ; n++) {
    yield [WEST + ((n * 0.7548776662466927) % 1) * SIDE * STEP, NORTH - ((n * 0.5698402909980532) % 1) * SIDE * STEP]
  }
}

describe.each(shop.engines)('with engine %s', (engine) => {
  it.each([
    ['terrarium', 'png', 'png'],
    ['mapbox', 'avif', 'webp'],
  ] as const)('heights in %s are those of the source at 1,000 points', async (encoding, asked, format) => {
    const layer = await shop.layer({
      source_paths: [dem],
      zoom_min: 9,
      zoom_max: ZOOM,
      tile_format: asked,
      engine,
      encoding,
    })
    expect(JSON.parse(readFileSync(join(layer, 'metadata.json'), 'utf8'))).toMatchObject({ encoding, format })
    const read = await readerOf(layer, encoding, format)
    let checked = 0
    let worst = 0
    for (const [longitude, latitude] of points()) {
      const [px, py] = pixelOf(longitude!, latitude!)
      const expected = sourceAt(...centreOf(px, py))
      if (expected === null) continue
      const found = await read(ZOOM, px, py)
      expect(found?.alpha).toBe(255)
      worst = Math.max(worst, Math.abs(found!.height - expected))
      if (++checked === 1000) break
    }
    expect(worst).toBeLessThan(0.1)
    const hole = pixelOf(WEST + 275 * STEP, NORTH - 200 * STEP)
    // A pixel without a height can be distinguished from one with a height, and is not an abyss for a client that ignores alpha.
    const nothing = await read(ZOOM, ...hole)
    expect(nothing!.alpha).toBe(254)
    expect(nothing!.height).toBeCloseTo(0, 6)
    // An overview is the mean of heights: a mean of codes would be off by whole steps of a byte.
    const [px, py] = pixelOf(WEST + 100 * STEP, NORTH - 100 * STEP, ZOOM - 1)
    const four = [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ].map(([x, y]) => read(ZOOM, 2 * px + x!, 2 * py + y!))
    const mean = (await Promise.all(four)).reduce((sum, each) => sum + each!.height / 4, 0)
    expect(Math.abs((await read(ZOOM - 1, px, py))!.height - mean)).toBeLessThan(0.11)
  })
})

it('the newer height wins where it has data, and the existing height stays elsewhere', async () => {
  const layer = shop.path('heights')
  const common = { mode: 'accumulate', layer_dir: layer, zoom_min: ZOOM, zoom_max: ZOOM, encoding: 'mapbox' } as const
  for (const source of [dem, overlap]) {
    await publishStaged(await shop.layer({ ...common, source_paths: [source] }), layer)
  }
  const read = await readerOf(layer, 'mapbox', 'png')
  for (const [column, lift] of [
    [50, 0],
    [200, 40],
    [275, 40],
  ] as const) {
    const [px, py] = pixelOf(WEST + column * STEP, NORTH - 200 * STEP)
    const [longitude, latitude] = centreOf(px, py)
    const [x, y] = [(longitude - WEST) / STEP - 0.5, (NORTH - latitude) / STEP - 0.5]
    const found = await read(ZOOM, px, py)
    expect(found!.alpha).toBe(255)
    // Between pixel centres: the terrain itself is at most a few decimetres from its interpolation.
    expect(Math.abs(found!.height - terrain(x, y) - lift), `column ${column}`).toBeLessThan(1)
  }
  const { code, lines } = await shop.tile(shop.request({ ...common, encoding: 'terrarium', source_paths: [dem] }))
  expect(code).toBe(1)
  expect(lines.at(-1)).toMatchObject({
    reason: 'the encoding of the layer is mapbox; images cannot be merged into it as terrarium',
  })
})

it('a picture is not an elevation model', async () => {
  const picture = await shop.make('picture.tif', 'gdal_translate', [...GLOBE_REFERENCE, '-outsize', '64', '32'])
  const { lines } = await shop.tile(shop.request({ source_paths: [picture], encoding: 'terrarium' }))
  expect(lines.at(-1)).toMatchObject({
    reason: expect.stringContaining('is a picture; an elevation model has one band'),
  })
})
