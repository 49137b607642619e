import sharp from 'sharp'
import { expect, test } from 'vitest'
import { TILE_MATRIX_SETS } from '../tile-matrix-sets.js'
import { composeMap } from './compose.js'
import type { MapTask } from './map-pool.js'
import { planTiles } from './plan.js'
import type { Picture } from './positions.js'

const SET = TILE_MATRIX_SETS.WebMercatorQuad
const HALF = SET.extent[2]
const WORLD: Picture = { system: 'mercator', bounds: SET.extent, width: 512, height: 512 }

/** A tile whose pixels are all different from those of their neighbours, some of them half transparent. */
function pixelsOf(x: number, y: number): Buffer {
  const pixels = Buffer.alloc(256 * 256 * 4)
  for (let i = 0; i < 256 * 256; i++) {
    const [column, row] = [i % 256, Math.floor(i / 256)]
    pixels.set([column, row, (x * 100 + y * 50 + column * row) % 256, row % 3 === 0 ? 128 : 255], i * 4)
  }
  return pixels
}
const png = (pixels: Buffer, side = 256) =>
  sharp(pixels, { raw: { width: side, height: side, channels: 4 } })
    .png()
    .toBuffer()

async function taskOf(picture: Picture, maxZoom: number, more: Partial<MapTask> = {}): Promise<MapTask> {
  const layer = { set: SET, tileSize: 256, minZoom: 0, maxZoom, bounds: null }
  const { grid, shrink, tiles } = planTiles(picture, layer, null, 1024)
  const read = await Promise.all(
    tiles.map(async ({ x, y, column }) => ({ x: column, y, bytes: await png(pixelsOf(x, y)) })),
  )
  const layers = [{ grid, shrink, isNearest: false, tiles: read }]
  return { picture, format: 'png', transparent: true, background: 0xffffff, clip: null, layers, ...more }
}

const draw = async (task: MapTask) => {
  const { bytes, faults } = await composeMap(task, () => {})
  expect(faults).toEqual([])
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => [
    ...data.subarray((y * info.width + x) * info.channels).subarray(0, info.channels),
  ]
  return { data, info, at }
}

test('at the resolution and on the grid of the tiles, their pixels are unchanged', async () => {
  const { data, info } = await draw(await taskOf(WORLD, 5))
  expect([info.width, info.height, info.channels]).toEqual([512, 512, 4])
  for (const [x, y] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ] as const) {
    const expected = pixelsOf(x, y)
    for (let row = 0; row < 256; row++) {
      const from = ((y * 256 + row) * 512 + x * 256) * 4
      expect(data.subarray(from, from + 1024).equals(expected.subarray(row * 1024, row * 1024 + 1024))).toBe(true)
    }
  }
})

test('numbers that a client has rounded do not change the pixels either', async () => {
  const rounded = WORLD.bounds.map((n) => Math.round(n * 10) / 10) as unknown as Picture['bounds']
  const exact = await draw(await taskOf(WORLD, 5))
  expect((await draw(await taskOf({ ...WORLD, bounds: rounded }, 5))).data.equals(exact.data)).toBe(true)
})

test('the zoom is the coarsest that is at least as fine as the picture, or the deepest', () => {
  const zoomOf = (width: number, maxZoom: number) =>
    planTiles(
      { ...WORLD, width, height: width },
      { set: SET, tileSize: 256, minZoom: 1, maxZoom, bounds: null },
      null,
      1024,
    )
  expect([256, 512, 513, 600, 1024].map((width) => zoomOf(width, 9).zoom)).toEqual([1, 1, 2, 2, 2])
  expect(zoomOf(4096, 2).zoom).toBe(2)
  expect([zoomOf(256, 9).shrink, zoomOf(100, 9).shrink, zoomOf(600, 9).shrink]).toEqual([2, 4, 1])
  expect(zoomOf(512, 9).tiles).toHaveLength(4)
})

test('a picture across 180 degrees shows the world on both sides, without a seam between pixels too', async () => {
  const half = await draw(await taskOf(WORLD, 1))
  for (const turn of [-1, 1]) {
    const bounds = [turn < 0 ? -2 * HALF : 0, -HALF, turn < 0 ? 0 : 2 * HALF, HALF] as const
    const turned = await draw(await taskOf({ ...WORLD, bounds: [...bounds] }, 1))
    for (const [x, y] of [
      [0, 7],
      [255, 300],
      [256, 300],
      [511, 511],
    ] as const)
      expect(turned.at(x, y)).toEqual(half.at((x + 256) % 512, y))
  }
  const shift = HALF / 512
  const between = await draw(await taskOf({ ...WORLD, bounds: [shift, -HALF, 2 * HALF + shift, HALF] }, 1))
  expect(between.at(255, 1)).toHaveLength(4)
  const [left, right] = [half.at(511, 1), half.at(0, 1)]
  expect(between.at(255, 1)[0]).toBe(Math.round((left[0]! + right[0]!) / 2))
  expect(between.at(255, 1)[3]).toBe(255)
})

test('tiles beyond the limit are counted and not listed', () => {
  const layer = { set: SET, tileSize: 256, minZoom: 10, maxZoom: 12, bounds: null }
  expect(planTiles(WORLD, layer, null, 1024)).toMatchObject({ zoom: 10, count: 2 ** 20, tiles: [] })
  const area = [0, 0, 0.3, 0.3] as const
  expect(planTiles(WORLD, layer, [...area], 1024).count).toBe(1)
})

test('between two pixels the colour is their mean, and the edge of the tiles stays opaque', async () => {
  const shift = HALF / 512
  const [west, south, east, north] = WORLD.bounds
  const picture = { ...WORLD, bounds: [west + shift, south, east + shift, north] as const, width: 512 }
  const task = await taskOf({ ...picture, bounds: [...picture.bounds] }, 1)
  const { at } = await draw(task)
  const [a, b] = [pixelsOf(0, 0), pixelsOf(1, 0)]
  // Row 1 is opaque. Half a pixel to the east, the first pixel is the mean of the first two.
  expect(at(0, 1)[1]).toBe(1)
  expect(at(10, 1).slice(0, 2)).toEqual([Math.round(10.5), 1])
  // Across the edge of two tiles.
  expect(at(255, 1)[0]).toBe(Math.round(((a[(256 + 255) * 4] ?? 0) + (b[256 * 4] ?? 0)) / 2))
  expect(at(511, 1)[3]).toBe(255)
})

test('the first layer is at the bottom, and the background fills what has no tile', async () => {
  const solid = async (r: number, g: number, b: number, a: number) =>
    png(Buffer.alloc(256 * 256 * 4, Buffer.from([r, g, b, a])))
  const task = await taskOf({ ...WORLD, width: 256, height: 256 }, 0)
  const [layer] = task.layers as [MapTask['layers'][0]]
  const red = { ...layer, tiles: [{ x: 0, y: 0, bytes: await solid(255, 0, 0, 255) }] }
  const blue = { ...layer, tiles: [{ x: 0, y: 0, bytes: await solid(0, 0, 255, 128) }] }
  expect((await draw({ ...task, layers: [red, blue] })).at(9, 9)).toEqual([127, 0, 128, 255])
  expect((await draw({ ...task, layers: [blue, red] })).at(9, 9)).toEqual([255, 0, 0, 255])
  expect((await draw({ ...task, layers: [blue] })).at(9, 9)).toEqual([0, 0, 255, 128])
  const none = { ...layer, tiles: [] }
  const opaque = { ...task, layers: [none], transparent: false, background: 0x102030 }
  expect((await draw(opaque)).at(9, 9)).toEqual([0x10, 0x20, 0x30])
  const clip = [{ left: 5, top: 5, right: 10, bottom: 10 }]
  const { at } = await draw({ ...task, layers: [red], clip })
  expect([at(4, 5), at(5, 5), at(9, 9), at(10, 9)].map(([r]) => r)).toEqual([0, 255, 255, 0])
})

test('a tile that cannot be decoded is reported and left out', async () => {
  const task = await taskOf(WORLD, 1)
  const [layer] = task.layers as [MapTask['layers'][0]]
  const broken = { ...layer, tiles: [{ x: 0, y: 0, bytes: Buffer.from('no image') }, ...layer.tiles.slice(1)] }
  const { bytes, faults } = await composeMap({ ...task, layers: [broken] }, () => {})
  expect(faults).toMatchObject([{ layer: 0, x: 0, y: 0 }])
  expect((await sharp(bytes).metadata()).width).toBe(512)
})

test('encoded numbers are taken from the nearest pixel', async () => {
  const task = await taskOf({ ...WORLD, width: 700, height: 700 }, 0)
  const [layer] = task.layers as [MapTask['layers'][0]]
  const pixels = Buffer.alloc(256 * 256 * 4, 255)
  for (let i = 0; i < 256 * 256; i++) pixels.set([i % 2 === 0 ? 10 : 200, 0, 0], i * 4)
  const { data } = await draw({
    ...task,
    layers: [{ ...layer, isNearest: true, tiles: [{ x: 0, y: 0, bytes: await png(pixels) }] }],
  })
  const reds = new Set(data.filter((_, i) => i % 4 === 0))
  expect([...reds].sort()).toEqual([10, 200])
})

test.each([
  ['jpg', 'jpeg', 3],
  ['webp', 'webp', 4],
] as const)('a picture can be %s', async (format, type, channels) => {
  const { bytes } = await composeMap(await taskOf(WORLD, 1, { format, transparent: format !== 'jpg' }), () => {})
  const { format: found, channels: count } = await sharp(bytes).metadata()
  expect([found, count]).toEqual([type, channels])
})
