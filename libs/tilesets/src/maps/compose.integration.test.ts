import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import { matrixSetOf, TILE_MATRIX_SETS, type TileMatrixSet } from '../tile-matrix-sets.js'
import { composeMap } from './compose.js'
import { planTiles } from './plan.js'
import type { Picture } from './positions.js'

const home = mkdtempSync(path.join(os.tmpdir(), 'gateway-maps-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const CGCS2000_38 = {
  tileMatrixSet: 'EPSG4526_00000000' as const,
  tileMatrices: {
    crs: 'EPSG:4526' as const,
    origin: [38_000_000, 6_000_000] as [number, number],
    tileSize: 256,
    resolutions: [2000, 1000, 500],
  },
}

/** Levels between two neighbouring pixels, in red by column and in green by row, so that a shift is visible. */
const SLOPE = 4
/** Pixels after which the levels begin again; places there are not compared. */
const PERIOD = 60

function level(at: number): number {
  return (((at % PERIOD) + PERIOD) % PERIOD) * SLOPE
}

async function tileOf(x: number, y: number): Promise<Buffer> {
  const pixels = Buffer.alloc(256 * 256 * 3)
  for (let i = 0; i < 256 * 256; i++)
    pixels.set([level(x * 256 + (i % 256)), level(y * 256 + Math.floor(i / 256)), 0], i * 3)
  return sharp(pixels, { raw: { width: 256, height: 256, channels: 3 } })
    .png()
    .toBuffer()
}

/** Draws a picture from the tiles of a zoom, and by gdalwarp from the same tiles in one file. */
async function both(set: TileMatrixSet, zoom: number, picture: Picture, srs: string) {
  const layer = { set, tileSize: 256, minZoom: zoom, maxZoom: zoom, bounds: null }
  const { grid, tiles } = planTiles(picture, layer, null, 1024)
  const read = await Promise.all(tiles.map(async ({ x, y }) => ({ x, y, bytes: await tileOf(x, y) })))
  const layers = [{ grid, shrink: 1, isNearest: false, tiles: read }]
  const task = { picture, format: 'png', transparent: true, background: 0, clip: null, layers } as const
  const ours = await sharp((await composeMap(task, () => {})).bytes)
    .raw()
    .toBuffer()

  const [left, right] = [Math.min(...tiles.map(({ x }) => x)), Math.max(...tiles.map(({ x }) => x)) + 1]
  const [top, bottom] = [Math.min(...tiles.map(({ y }) => y)), Math.max(...tiles.map(({ y }) => y)) + 1]
  const [width, height] = [(right - left) * 256, (bottom - top) * 256]
  const source = path.join(home, 'source.png')
  await sharp({ create: { width, height, channels: 3, background: '#000' } })
    .composite(read.map(({ x, y, bytes }) => ({ input: bytes, left: (x - left) * 256, top: (y - top) * 256 })))
    .png()
    .toFile(source)
  const side = grid.cellSize * 256
  const corners = [grid.left + left * side, grid.top - top * side, grid.left + right * side, grid.top - bottom * side]
  const [placed, warped] = [path.join(home, 'placed.tif'), path.join(home, 'warped.tif')]
  const gdal = (tool: string, ...args: string[]) =>
    execFileSync(tool, ['-q', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  gdal('gdal_translate', '-a_srs', set.crs, '-a_ullr', ...corners.map(String), source, placed)
  const size = ['-ts', String(picture.width), String(picture.height), '-et', '0']
  gdal(
    'gdalwarp',
    '-overwrite',
    '-t_srs',
    srs,
    '-te',
    ...picture.bounds.map(String),
    ...size,
    '-r',
    'near',
    placed,
    warped,
  )
  const raw = path.join(home, 'warped.png')
  gdal('gdal_translate', '-of', 'PNG', warped, raw)
  const theirs = await sharp(raw).removeAlpha().raw().toBuffer()
  return { ours, theirs, count: picture.width * picture.height }
}

const CHINA: Bounds = [100, 20, 130, 50]
const CHINA_METRES: Bounds = [11_131_949, 2_273_030, 14_471_533, 6_446_275]

test.each([
  ['Web Mercator to EPSG:4326', TILE_MATRIX_SETS.WebMercatorQuad, 4, 'geographic', CHINA, 'EPSG:4326'],
  ['Web Mercator to EPSG:4490', TILE_MATRIX_SETS.WebMercatorQuad, 4, 'geographic', CHINA, 'EPSG:4490'],
  ['EPSG:4490 to Web Mercator', TILE_MATRIX_SETS.CGCS2000Quad, 3, 'mercator', CHINA_METRES, 'EPSG:3857'],
  ['a Gauss-Kruger zone to EPSG:4326', matrixSetOf(CGCS2000_38), 1, 'geographic', [111, 30, 117, 36], 'EPSG:4326'],
  [
    'a Gauss-Kruger zone to Web Mercator',
    matrixSetOf(CGCS2000_38),
    1,
    'mercator',
    [12_400_000, 3_600_000, 12_900_000, 4_100_000],
    'EPSG:3857',
  ],
] as const)('%s lies where gdalwarp draws it, below one pixel', async (_, set, zoom, system, bounds, srs) => {
  const picture: Picture = { system, bounds: [...bounds] as Bounds, width: 240, height: 220 }
  const { ours, theirs, count } = await both(set, zoom, picture, srs)
  let [compared, worst] = [0, 0]
  for (let i = 0; i < count; i++) {
    for (const channel of [0, 1]) {
      const [a, b] = [ours[i * 4 + channel] ?? 0, theirs[i * 3 + channel] ?? 0]
      // The nearest pixel is at most half a pixel away from the place itself.
      const isNearPeriod = Math.min(a, b) < 3 * SLOPE || Math.max(a, b) > (PERIOD - 4) * SLOPE
      if (isNearPeriod || ours[i * 4 + 3] !== 255) continue
      compared++
      worst = Math.max(worst, Math.abs(a - b))
    }
  }
  expect(compared).toBeGreaterThan(count)
  expect(worst / SLOPE).toBeLessThan(1)
})
