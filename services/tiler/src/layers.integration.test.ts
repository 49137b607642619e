import { cpSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishStaged } from '@gateway/contracts/tiling/publish.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBlocks } from './blocks.js'
import { HALF_WORLD } from './mercator.js'
import { alphaDifferences, GLOBE_REFERENCE, psnr, tile, tilesIn, Workshop } from './testing/workshop.js'

const shop = new Workshop()
afterAll(() => shop.close())

/** Neighbours that meet inside of a tile at every zoom, and both of them in one. */
let west: string
let east: string
let both: string

beforeAll(async () => {
  const globe = await shop.make('globe.tif', 'gdal_translate', [...GLOBE_REFERENCE, '-co', 'TILED=YES'])
  const cut = (name: string, x: number, width: number) =>
    shop.make(name, 'gdal_translate', ['-srcwin', String(x), '400', String(width), '150'], globe)
  west = await cut('west.tif', 1970, 140)
  east = await cut('east.tif', 2110, 140)
  both = await cut('both.tif', 1970, 280)
})

const ZOOMS = { zoom_min: 0, zoom_max: 5 }

/** Accumulates one source into a layer the way the control plane does. */
async function accumulate(layer: string, source: string, engine: 'gdal' | 'wasm' = shop.engines[0]!): Promise<void> {
  const staging = await shop.layer({
    ...ZOOMS,
    mode: 'accumulate',
    source_paths: [source],
    layer_dir: layer,
    engine,
    tile_format: 'webp',
  })
  await publishStaged(staging, layer)
}

describe.each(shop.engines)('with engine %s', (engine) => {
  it('the tiles that two neighbours share contain both of them, at every zoom', async () => {
    const layer = shop.path(`shared-${engine}`)
    await accumulate(layer, west, engine)
    await accumulate(layer, east, engine)
    const whole = await shop.layer({ ...ZOOMS, source_paths: [both], engine, tile_format: 'webp' })
    expect(tilesIn(layer)).toEqual(tilesIn(whole))
    for (const name of tilesIn(whole)) {
      const [merged, reference] = [await tile(layer, name), await tile(whole, name)]
      // Overviews are means of means: alpha may be rounded differently by one.
      expect(alphaDifferences(merged.data, reference.data, name.startsWith('5/') ? 0 : 1), name).toBe(0)
      // At the outermost zooms the source is a handful of pixels, most of them on the edge.
      if (Number(name.split('/')[0]) >= 3) expect(psnr(merged.data, reference.data), name).toBeGreaterThan(34)
    }
  })

  it('the deepest zoom is within 40 dB of a reference warp', async () => {
    const layer = await shop.layer({ ...ZOOMS, source_paths: [both], engine, tile_format: 'webp' })
    for (const name of tilesIn(layer).filter((each) => each.startsWith('5/'))) {
      const reference = await warped(name, both)
      const made = await tile(layer, name)
      expect(alphaDifferences(made.data, reference), name).toBe(0)
      expect(psnr(made.data, reference), name).toBeGreaterThan(40)
    }
  })
})

it('slicing a source twice stages identical tiles', async () => {
  const layer = shop.path('twice')
  await accumulate(layer, west)
  const before = mkdtempSync(shop.path('before-'))
  cpSync(layer, before, { recursive: true })
  await accumulate(layer, west)
  expect(tilesIn(layer)).toEqual(tilesIn(before))
  for (const name of tilesIn(layer)) {
    expect(readFileSync(join(layer, name)).equals(readFileSync(join(before, name))), name).toBe(true)
  }
})

it('slicing neighbours repeatedly neither thickens nor erodes edges', async () => {
  const layer = shop.path('again')
  await accumulate(layer, west)
  await accumulate(layer, east)
  const before = mkdtempSync(shop.path('before-'))
  cpSync(layer, before, { recursive: true })
  for (const source of [west, east, east, west]) await accumulate(layer, source)
  expect(tilesIn(layer)).toEqual(tilesIn(before))
  for (const name of tilesIn(layer)) {
    const [now, once] = [await tile(layer, name), await tile(before, name)]
    expect(alphaDifferences(now.data, once.data), name).toBe(0)
    expect(psnr(now.data, once.data), name).toBeGreaterThan(42)
  }
})

it('a run over a half-published layer ends in the same layer', async () => {
  const layer = shop.path('half')
  await accumulate(layer, west)
  const crashed = mkdtempSync(shop.path('crashed-'))
  cpSync(layer, crashed, { recursive: true })
  await accumulate(layer, east)
  // The crash came after the deepest zoom was moved and before any overview.
  cpSync(join(layer, '5'), join(crashed, '5'), { recursive: true })
  await accumulate(crashed, east)
  expect(tilesIn(crashed)).toEqual(tilesIn(layer))
  for (const name of tilesIn(layer)) {
    const [once, again] = [await tile(layer, name), await tile(crashed, name)]
    expect(alphaDifferences(once.data, again.data), name).toBe(0)
    expect(psnr(once.data, again.data), name).toBeGreaterThan(42)
  }
})

it('several sources become one mosaic without a seam', async () => {
  const layer = await shop.layer({ ...ZOOMS, source_paths: [west, east] })
  const whole = await shop.layer({ ...ZOOMS, source_paths: [both] })
  expect(tilesIn(layer)).toEqual(tilesIn(whole))
  for (const name of tilesIn(whole)) {
    const [mosaic, reference] = [await tile(layer, name), await tile(whole, name)]
    expect(alphaDifferences(mosaic.data, reference.data), name).toBe(0)
    expect(psnr(mosaic.data, reference.data), name).toBeGreaterThan(40)
  }
})

/** Returns a tile as GDAL warps it without approximation; only the reader is the tiler's. */
async function warped(name: string, source: string): Promise<Buffer> {
  const [zoom, x, y] = name.split(/[/.]/).map(Number) as [number, number, number]
  const size = (2 * HALF_WORLD) / 2 ** zoom
  const extent = [
    x * size - HALF_WORLD,
    HALF_WORLD - (y + 1) * size,
    (x + 1) * size - HALF_WORLD,
    HALF_WORLD - y * size,
  ]
  const options = ['-t_srs', 'EPSG:3857', '-te', ...extent.map(String), '-ts', '256', '256', '-r', 'cubic', '-et', '0']
  const layout = ['-dstalpha', '-of', 'GTiff', '-co', 'TILED=YES', '-co', 'BIGTIFF=YES']
  const file = await shop.make(
    `reference-${zoom}-${x}-${y}.tif`,
    'gdalwarp',
    ['-overwrite', ...options, ...layout],
    source,
  )
  const blocks = openBlocks(file, { width: 256, height: 256, blockSize: 256, samples: 4, sampleBytes: 1 })
  try {
    return blocks.read(0, 0)!
  } finally {
    blocks.close()
  }
}
