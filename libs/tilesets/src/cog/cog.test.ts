import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BrokenArchiveError } from '../broken-archive.js'
import { probeTileSet } from '../probe.js'
import { gdal, partOfImage, pixelsOf, writeGdalImage } from '../testing/gdal-image.js'
import { bytesOf, setsIn } from '../testing/listed-tiles.js'
import { JPEG_TABLES, makeTiledTiff, type TiffOptions } from '../testing/tiled-tiffs.js'

let root: string
beforeAll(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cog-')))
  writeGdalImage(root)
}, 60_000)
afterAll(() => fs.rmSync(root, { recursive: true }))

const { at, open, addressesOf } = setsIn(() => root)

test.each([
  ['JPEG', 'jpg'],
  ['WEBP', 'webp'],
] as const)(
  'a COG of %s tiles on the grid is served as it is, overviews as lower zooms',
  async (compress, format) => {
    const name = `cog-${compress}.tif`
    const options = [
      'TILING_SCHEME=GoogleMapsCompatible',
      `COMPRESS=${compress}`,
      'QUALITY=95',
      'ADD_ALPHA=NO',
      'ALIGNED_LEVELS=3',
      'OVERVIEWS=AUTO',
    ]
    gdal('gdal_translate', '-of', 'COG', ...options.flatMap((one) => ['-co', one]), at('source.bin'), at(name))
    const probe = await probeTileSet(root, at(name))
    expect(probe).toMatchObject({
      storage: 'cog',
      format,
      tileSize: 256,
      maxZoom: 4,
      tileMatrixSet: 'WebMercatorQuad',
    })
    expect(probe?.minZoom).toBeLessThan(4)
    const source = await open(name, 'cog', { format })
    const decoded = await pixelsOf((await bytesOf(await source.tile({ z: 4, x: 7, y: 8 })))!)
    const expected = partOfImage(256, 512)
    const off = decoded.reduce((sum, value, i) => sum + Math.abs(value - expected[i]!), 0) / decoded.length
    expect(off).toBeLessThan(12)
    expect(await bytesOf(await source.tile({ z: 3, x: 3, y: 4 }))).not.toBeNull()
    expect(await source.tile({ z: 4, x: 0, y: 0 })).toBeNull()
    source.close()
    expect(await addressesOf(name, 'cog', 4, { format })).toContain('7/8')
  },
  60_000,
)

test.each([
  ['plain.tif', ['-of', 'GTiff'], /not tiled/],
  [
    'deflate.tif',
    ['-of', 'COG', '-co', 'TILING_SCHEME=GoogleMapsCompatible', '-co', 'COMPRESS=DEFLATE'],
    /neither JPEG nor WebP/,
  ],
  [
    'off.tif',
    ['-of', 'COG', '-a_ullr', '0', '1000000', '1000000', '0', '-co', 'COMPRESS=JPEG'],
    /are not those of WebMercatorQuad: origin/,
  ],
])(
  '%s is refused with the reason',
  async (name, options, message) => {
    gdal('gdal_translate', ...options, at('source.bin'), at(name))
    await expect(probeTileSet(root, at(name))).rejects.toThrow(message)
  },
  60_000,
)

test('a mask next to a COG, and a nodata value, are warnings: its tiles carry neither', async () => {
  const options = ['TILING_SCHEME=GoogleMapsCompatible', 'COMPRESS=JPEG', 'ADD_ALPHA=NO', 'OVERVIEWS=NONE']
  const created = options.flatMap((one) => ['-co', one])
  gdal('gdal_translate', '-of', 'COG', ...created, '-a_nodata', '0', at('source.bin'), at('nodata.tif'))
  expect((await probeTileSet(root, at('nodata.tif')))?.warnings).toEqual([
    expect.stringMatching(/nodata value.*not transparent.*ADD_ALPHA=YES, or slice it/),
  ])
  gdal('gdal_translate', '-of', 'COG', ...created, at('source.bin'), at('masked.tif'))
  expect((await probeTileSet(root, at('masked.tif')))?.warnings).toEqual([])
  fs.writeFileSync(at('masked.tif.msk'), '')
  expect((await probeTileSet(root, at('masked.tif')))?.warnings).toEqual([expect.stringContaining('it has a mask')])
}, 60_000)

const TILES = Array.from({ length: 64 }, (_, i) => ({ z: 3, x: i % 8, y: i >> 3, data: Buffer.alloc(40 + i, i) }))
const [SHORT, LONG, LONG8] = [3, 4, 16]

async function tilesOf(name: string, options: TiffOptions) {
  fs.writeFileSync(at(name), makeTiledTiff(TILES.slice(0, -1), options))
  const format = options.compression === 'jpeg' ? 'jpg' : 'webp'
  const source = await open(name, 'cog', { format })
  const read = await Promise.all(TILES.map(async (tile) => bytesOf(await source.tile(tile))))
  const leaves = [...(source.knownLeaves?.(TILES[0]!) ?? [])]
  const layout = source.layout?.()
  source.close()
  return { read, leaves, layout }
}

test.each([false, true])(
  'tiles are those of the file, and numbered for the native reader (BigTIFF: %s)',
  async (isBig) => {
    const { read, leaves, layout } = await tilesOf(`big-${isBig}.tif`, { compression: 'webp', isBig })
    expect(read.map((tile) => tile?.length ?? 0)).toEqual(TILES.map(({ data }, i) => (i === 63 ? 0 : data.length)))
    expect(leaves.map(([offset, { lengths }]) => [offset, lengths.length])).toEqual([[1, 63]])
    expect(layout).toMatchObject({ kind: 'archive', archive: { header: { minZoom: 3, maxZoom: 3 } } })
  },
)

test('shared tables are put before each JPEG tile, and a tile without them is served as it is', async () => {
  const { read, layout } = await tilesOf('tables.tif', { compression: 'jpeg' })
  const head = JPEG_TABLES.subarray(0, -2)
  expect(read[5]).toEqual(Buffer.concat([head, TILES[5]!.data.subarray(2)]))
  expect(layout).toMatchObject({ archive: { head } })
  const alone = await tilesOf('alone.tif', { compression: 'jpeg', tables: null })
  expect(alone.read[5]).toEqual(TILES[5]!.data)
  expect(alone.layout).not.toHaveProperty('archive.head')
})

test.each<[string, TiffOptions['fields'] & object, RegExp]>([
  ['a tile of one pixel', { 322: [SHORT, [1]], 323: [SHORT, [1]] }, /tiles have 1 pixels/],
  ['tiles of 2^31 pixels', { 322: [LONG, [2 ** 31]], 323: [LONG, [2 ** 31]] }, /tiles have 2147483648 pixels/],
  ['bands in tiles of their own', { 284: [SHORT, [2]] }, /bands lie in separate tiles/],
  ['an index that is too short', { 324: [LONG, [0]] }, /too few entries/],
  ['a side of no pixels', { 256: [LONG, [0]] }, /holds|grid/],
  ['16 bits', { 258: [SHORT, [16, 16, 16]] }, /16 bits/],
  ['more tiles than allowed', { 256: [LONG, [2 ** 31]], 257: [LONG, [2 ** 31]] }, /more tiles than allowed|grid/],
  ['damaged tables', { 347: [1, [1, 2, 3, 4, 5]] }, /JPEG tables are damaged/],
])('%s is refused', async (name, fields, message) => {
  fs.writeFileSync(at(`${name}.tif`), makeTiledTiff(TILES, { compression: 'jpeg', fields }))
  await expect(probeTileSet(root, at(`${name}.tif`))).rejects.toThrow(message)
})

test('an offset beyond the end is an error for its tile, and nothing is numbered', async () => {
  const offsets = TILES.slice(0, -1).map((_, i) => (i === 7 ? 2 ** 40 : 16))
  const fields = { 324: [LONG8, [...offsets, 16]] } as const
  fs.writeFileSync(at('beyond.tif'), makeTiledTiff(TILES, { compression: 'webp', isBig: true, fields }))
  const source = await open('beyond.tif', 'cog', { format: 'webp' })
  expect(await bytesOf(await source.tile(TILES[0]!))).not.toBeNull()
  await expect(source.tile(TILES[7]!)).rejects.toThrow(BrokenArchiveError)
  expect([...(source.knownLeaves?.(TILES[0]!) ?? [])]).toEqual([])
  source.close()
})
