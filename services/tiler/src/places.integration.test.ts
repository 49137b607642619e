import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { METADATA_FILE, type TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alphaDifferences, GLOBE_REFERENCE, psnr, tile, tilesIn, Workshop } from './testing/workshop.js'

/** A result that names its reason by a code, too. */
const CODED_FAILURE = {
  type: 'result',
  ok: false,
  message_code: expect.any(String),
  message_params: expect.any(Object),
}

const shop = new Workshop()
afterAll(() => shop.close())

const LAYER = { zoom_min: 4, zoom_max: 4 } as const

let globe: string

async function slice(source: string | string[], changes: Partial<TilingRequest> = LAYER): Promise<string> {
  return shop.layer({ source_paths: [source].flat(), ...changes })
}

beforeAll(async () => {
  globe = await shop.make('globe.tif', 'gdal_translate', [...GLOBE_REFERENCE, '-co', 'TILED=YES'])
})

describe('anywhere on earth', () => {
  let world: string
  beforeAll(async () => {
    world = await slice(globe)
  })

  const warp = (name: string, system: string, ...more: string[]) =>
    shop.make(name, 'gdalwarp', ['-overwrite', '-of', 'GTiff', '-t_srs', system, '-r', 'cubic', ...more], globe)

  /** A shift by one pixel would cost far more than having been resampled twice. */
  async function expectInPlace(layer: string): Promise<void> {
    let compared = 0
    for (const name of tilesIn(layer)) {
      const [made, reference] = [await tile(layer, name), await tile(world, name)]
      if (made.data.filter((value, index) => index % 4 === 3 && value === 255).length < 5000) continue
      expect(psnr(made.data, reference.data), name).toBeGreaterThan(27)
      compared++
    }
    expect(compared).toBeGreaterThan(0)
  }

  it.each([
    ['UTM', 'EPSG:32633', '-400000 4300000 1400000 6000000', '5000'],
    ['Web Mercator', 'EPSG:3857', '-200000 4500000 2700000 7500000', '8000'],
    ['CGCS 2000', 'EPSG:4490', '-3 37 26 57', '0.06'],
    ['Gauss-Krüger with northing first', 'EPSG:4549', '-1000000 2000000 2000000 5000000', '6000'],
  ])('%s lands where it belongs', async (_, system, extent, resolution) => {
    const shape = ['-te', ...extent.split(' '), '-tr', resolution, resolution]
    await expectInPlace(await slice(await warp(`${system.slice(5)}.tif`, system, ...shape)))
  })

  it('sources of different reference systems become one layer', async () => {
    const left = ['-te', '-400000', '4300000', '500000', '6000000', '-tr', '5000', '5000']
    const right = ['-te', '14', '37', '26', '57', '-tr', '0.06', '0.06']
    const sources = [await warp('left.tif', 'EPSG:32633', ...left), await warp('right.tif', 'EPSG:4490', ...right)]
    const layer = await slice(sources)
    await expectInPlace(layer)
    expect((await tile(layer, '4/8/5.png')).data[3 + 4 * (100 * 256 + 200)]).toBe(255)
  })

  it.each([
    ['geographic', 'EPSG:4326', '170 -30 190 10', '0.1'],
    ['UTM', 'EPSG:32760', '200000 6000000 1400000 8000000', '8000'],
  ])(
    'a %s source across the antimeridian lies on both edges of the map, and not between',
    async (_, system, extent, resolution) => {
      const name = `across-${system.slice(5)}.tif`
      const shape = [
        '-of',
        'GTiff',
        '-t_srs',
        system,
        '-te',
        ...extent.split(' '),
        '-tr',
        resolution,
        resolution,
        '-dstalpha',
      ]
      // GDAL's own warp does not wrap: the Pacific is put together from both ends of the globe.
      const ends = [
        { window: '3800 0 296 2048', corners: '153.984375 90 180 -90', first: shape },
        { window: '0 0 300 2048', corners: '180 90 206.3671875 -90', first: [] },
      ]
      for (const { window, corners, first } of ends) {
        const cut = ['-srcwin', ...window.split(' '), '-a_srs', 'EPSG:4326', '-a_ullr', ...corners.split(' ')]
        const end = await shop.make('end.tif', 'gdal_translate', cut)
        await shop.make(name, 'gdalwarp', [...first, '-r', 'cubic'], end)
      }
      const layer = await slice(shop.path(name))
      await expectInPlace(layer)
      expect([...new Set(tilesIn(layer).map((each) => each.split('/')[1]))]).toEqual(['0', '15'])
      const { bounds } = JSON.parse(readFileSync(join(layer, METADATA_FILE), 'utf8'))
      const [west, , east] = bounds
      expect(west).toBeGreaterThan(165)
      expect(east).toBeGreaterThan(-180)
      expect(east).toBeLessThan(-165)
    },
  )

  it('longitudes from 0 to 360 cover the whole map', async () => {
    const turned = ['-a_srs', 'EPSG:4326', '-a_ullr', '0', '90', '360', '-90']
    const layer = await slice(await shop.make('turned.tif', 'gdal_translate', turned), { zoom_min: 2, zoom_max: 2 })
    expect(tilesIn(layer)).toHaveLength(16)
    const reference = await slice(globe, { zoom_min: 2, zoom_max: 2 })
    for (const name of ['2/0/1.png', '2/3/2.png']) {
      const [, x, y] = name.split(/[/.]/).map(Number)
      const [made, opposite] = [await tile(layer, name), await tile(reference, `2/${(x! + 2) % 4}/${y}.png`)]
      expect(made.alpha).toBe('opaque')
      expect(psnr(made.data, opposite.data)).toBeGreaterThan(40)
    }
  })

  it('a source around a pole reaches all longitudes up to 85.0511 degrees', async () => {
    const shape = ['-te', '-2000000', '-2000000', '2000000', '2000000', '-tr', '10000', '10000']
    const layer = await slice(await warp('polar.tif', 'EPSG:3413', ...shape), { zoom_min: 2, zoom_max: 2 })
    for (const column of [0, 1, 2, 3]) {
      const { data } = await tile(layer, `2/${column}/0.png`)
      const topRow = data.subarray(0, 256 * 4).filter((_, index) => index % 4 === 3)
      expect(Math.min(...topRow), `column ${column}`).toBe(255)
    }
  })

  it('a source beyond 85.0511 degrees fails with a reason', async () => {
    const cap = await warp('cap.tif', 'EPSG:4326', '-te', '-20', '86', '20', '89', '-tr', '0.1', '0.1')
    const { code, lines } = await shop.tile(shop.request({ ...LAYER, source_paths: [cap] }))
    expect(code).toBe(1)
    expect(lines.at(-1)).toEqual({ ...CODED_FAILURE, reason: expect.stringContaining('85.0511') })
  })

  it.each(['32633.tif', 'across-4326.tif'])('both engines make the same of %s', async (name) => {
    if (!shop.engines.includes('gdal')) return expect(shop.engines).toEqual(['wasm'])
    const source = shop.path(name)
    const [native, portable] = [await slice(source), await slice(source, { ...LAYER, engine: 'wasm' })]
    expect(tilesIn(portable)).toEqual(tilesIn(native))
    for (const each of tilesIn(native)) {
      const [a, b] = [await tile(native, each), await tile(portable, each)]
      // Their versions of PROJ may disagree on a pixel of a curved edge.
      expect(alphaDifferences(a.data, b.data), each).toBeLessThan(5)
      expect(psnr(a.data, b.data), each).toBeGreaterThan(50)
    }
  })
})

describe('at any zoom', () => {
  it('zooms beyond the resolution of the source are drawn larger', async () => {
    const small = await shop.make('small.tif', 'gdal_translate', ['-srcwin', '2000', '460', '64', '64'], globe)
    const layer = await slice(small, { zoom_min: 7, zoom_max: 7 })
    // 64 pixels of zoom 4 cover 512 of zoom 7, on each side.
    expect(tilesIn(layer).length).toBeGreaterThanOrEqual(6)
    expect(tilesIn(layer).length).toBeLessThanOrEqual(12)
  })

  it('a source smaller than a pixel of the default zoom leaves a trace', async () => {
    const corners = ['-a_srs', 'EPSG:32633', '-a_ullr', '500000', '5001000', '501000', '5000000']
    const layer = await slice(await shop.make('trace.tif', 'gdal_translate', corners), { zoom_min: 0, zoom_max: 0 })
    expect(tilesIn(layer)).toEqual(['0/0/0.png'])
    expect((await tile(layer, '0/0/0.png')).alpha).toBe('partial')
  })

  it('overviews that a source holds give the same picture', async () => {
    if (!shop.engines.includes('gdal')) return expect(shop.engines).toEqual(['wasm'])
    const source = shop.path('overviews.tif')
    execFileSync('gdal_translate', ['-q', '-of', 'COG', '-co', 'RESAMPLING=AVERAGE', globe, source])
    const [fast, slow] = [await slice(source, {}), await slice(globe, {})]
    const [a, b] = [await tile(fast, '0/0/0.png'), await tile(slow, '0/0/0.png')]
    expect(psnr(a.data, b.data)).toBeGreaterThan(30)
  })
})
