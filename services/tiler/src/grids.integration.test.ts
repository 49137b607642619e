import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishStaged } from '@gateway/contracts/tiling/publish.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBlocks } from './blocks.js'
import { alphaDifferences, GLOBE_REFERENCE, psnr, tile, tilesIn, Workshop } from './testing/workshop.js'

const shop = new Workshop()
afterAll(() => shop.close())

let globe: string
/** One part of the globe around Beijing, in several systems: the same pixels, or warped. */
const parts = new Map<string, string>()

beforeAll(async () => {
  globe = await shop.make('globe.tif', 'gdal_translate', [...GLOBE_REFERENCE, '-co', 'TILED=YES'])
  const window = ['-srcwin', '3200', '400', '300', '200']
  for (const crs of ['EPSG:4326', 'EPSG:4490']) {
    parts.set(crs, await shop.make(`part-${crs.slice(5)}.tif`, 'gdal_translate', [...window, '-a_srs', crs], globe))
  }
  const warped = (crs: string) =>
    shop.make(
      `part-${crs.slice(5)}.tif`,
      'gdalwarp',
      ['-t_srs', crs, '-r', 'cubic', '-dstalpha'],
      parts.get('EPSG:4490'),
    )
  parts.set('EPSG:3857', await warped('EPSG:3857'))
  // CGCS2000 / 3-degree Gauss-Kruger CM 117E
  parts.set('EPSG:4548', await warped('EPSG:4548'))
})

const metadataOf = (layer: string) => JSON.parse(readFileSync(join(layer, 'metadata.json'), 'utf8'))

describe.each(shop.engines)('with engine %s', (engine) => {
  const slice = (source: string, tile_matrix_set: 'WorldCRS84Quad' | 'CGCS2000Quad', zoom_max = 4) =>
    shop.layer({ source_paths: [source], zoom_max, engine, tile_matrix_set })

  it('the whole world is two tiles at zoom 0, and all of them below', async () => {
    const layer = await slice(globe, 'WorldCRS84Quad', 2)
    const expected = [0, 1, 2].flatMap((z) =>
      Array.from({ length: 2 ** (z + 1) }, (_, x) =>
        Array.from({ length: 2 ** z }, (_, y) => `${z}/${x}/${y}.png`),
      ).flat(),
    )
    expect(tilesIn(layer)).toEqual(expected.sort())
    expect(metadataOf(layer)).toMatchObject({
      tile_matrix_set: 'WorldCRS84Quad',
      crs: 'EPSG:4326',
      bounds: [-180, -90, 180, 90],
    })
  })

  it.each(['WorldCRS84Quad', 'CGCS2000Quad'] as const)('tiles of %s are the pixels of a reference warp', async (id) => {
    const source = parts.get('EPSG:4490')!
    const layer = await slice(source, id)
    const deepest = tilesIn(layer).filter((name) => name.startsWith('4/'))
    expect(deepest.length).toBeGreaterThan(4)
    for (const name of deepest) {
      const reference = await warped(name, source, engine)
      const made = await tile(layer, name)
      expect(alphaDifferences(made.data, reference), name).toBe(0)
      expect(psnr(made.data, reference), name).toBeGreaterThan(40)
    }
  })

  it('a datum called CGCS2000 or WGS 84 moves no pixel', async () => {
    const reference = await slice(parts.get('EPSG:4326')!, 'WorldCRS84Quad', 2)
    for (const [crs, id] of [
      ['EPSG:4490', 'CGCS2000Quad'],
      ['EPSG:4490', 'WorldCRS84Quad'],
      ['EPSG:4326', 'CGCS2000Quad'],
    ] as const) {
      const layer = await slice(parts.get(crs)!, id, 2)
      expect(tilesIn(layer)).toEqual(tilesIn(reference))
      for (const name of tilesIn(reference)) {
        const [made, expected] = [await tile(layer, name), await tile(reference, name)]
        expect(psnr(made.data, expected.data), `${crs} in ${id}: ${name}`).toBeGreaterThan(60)
      }
    }
  })

  it.each(['EPSG:3857', 'EPSG:4548'])('a source in %s lies in the right place', async (crs) => {
    const reference = await slice(parts.get('EPSG:4490')!, 'CGCS2000Quad')
    const layer = await slice(parts.get(crs)!, 'CGCS2000Quad')
    const name = '4/26/4.png'
    expect(tilesIn(layer)).toContain(name)
    expect(psnr((await tile(layer, name)).data, (await tile(reference, name)).data)).toBeGreaterThan(28)
  })

  it('the plan promises at least as many tiles as are made', async () => {
    const request = shop.request({
      source_paths: [globe],
      zoom_max: 3,
      engine,
      tile_matrix_set: 'CGCS2000Quad',
      estimate_only: true,
    })
    const { lines } = await shop.tile(request)
    expect(lines.find(({ type }) => type === 'plan')).toMatchObject({
      tiles: 2 * (1 + 4 + 16 + 64),
      bounds: [-180, -90, 180, 90],
    })
  })
})

it.each([
  [undefined, 0, 4],
  ['WorldCRS84Quad', 0, 3],
  ['WorldCRS84Quad', 5, 5],
] as const)('the native zoom in %s from zoom %i on is %i', async (tile_matrix_set, zoom_min, expected) => {
  // 4096 pixels around the world, 16 tiles of 256; only the headers are read.
  const { lines } = await shop.tile(
    shop.request({
      source_paths: [globe],
      zoom_min,
      zoom_max: 'native',
      estimate_only: true,
      ...(tile_matrix_set && { tile_matrix_set }),
    }),
  )
  expect(lines.find(({ type }) => type === 'plan')).toMatchObject({ min_zoom: zoom_min, max_zoom: expected })
})

it('images are merged into a layer of the same grid, and refused by a layer of another one', async () => {
  const layer = shop.path('layer')
  const request = (tile_matrix_set?: 'WorldCRS84Quad') =>
    shop.request({
      mode: 'accumulate',
      source_paths: [parts.get('EPSG:4326')!],
      layer_dir: layer,
      staging_dir: mkdtempSync(shop.path('staging-')),
      zoom_max: 3,
      ...(tile_matrix_set && { tile_matrix_set }),
    })
  for (let time = 0; time < 2; time++) {
    const geographic = request('WorldCRS84Quad')
    expect((await shop.tile(geographic)).code).toBe(0)
    await publishStaged(geographic.staging_dir, layer)
  }
  const { code, lines } = await shop.tile(request())
  expect(code).toBe(1)
  expect(lines.at(-1)).toMatchObject({
    reason: 'the tiles of the layer lie in WorldCRS84Quad; images cannot be merged into it in WebMercatorQuad',
  })
})

/** Returns a tile of a geographic grid as GDAL warps it without approximation; only the reader is the tiler's. */
async function warped(name: string, source: string, label: string): Promise<Buffer> {
  const [zoom, x, y] = name.split(/[/.]/).map(Number) as [number, number, number]
  const size = 180 / 2 ** zoom
  const extent = [x * size - 180, 90 - (y + 1) * size, (x + 1) * size - 180, 90 - y * size]
  const options = ['-te', ...extent.map(String), '-ts', '256', '256', '-r', 'cubic', '-et', '0', '-dstalpha']
  const layout = ['-of', 'GTiff', '-co', 'TILED=YES', '-co', 'BIGTIFF=YES', '-overwrite']
  const file = await shop.make(`reference-${label}-${zoom}-${x}-${y}.tif`, 'gdalwarp', [...options, ...layout], source)
  const blocks = openBlocks(file, { width: 256, height: 256, blockSize: 256, samples: 4, sampleBytes: 1 })
  try {
    return blocks.read(0, 0)!
  } finally {
    blocks.close()
  }
}
