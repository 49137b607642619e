import sharp from 'sharp'
import { expect, test } from 'vitest'
import { MARGIN, type Square, squareAddress } from './addresses.js'
import { checkTile } from './content.js'
import { cutSquare } from './cut.js'

/** Pixels of a tile: few, so that pictures are small. */
const SIZE = 64

const REQUEST = {
  kind: 'wms',
  url: 'https://wms.example/?',
  version: '1.3.0',
  layers: 'a',
  styles: '',
  crs: 'EPSG:3857',
  isLatitudeFirst: false,
  format: 'image/png',
  transparent: true,
  maxPixels: null,
} as const
const TILED = { tileMatrixSet: 'WebMercatorQuad', tileMatrices: null, tileSize: SIZE } as const

const squareAt = (z: number, x: number, y: number): Square => squareAddress(REQUEST, TILED, { z, x, y }, 4)

/** Colour of a pixel of the world: it tells the column and the row. Pixels of the lower half of a tile are transparent. */
function pixelAt(column: number, row: number): number {
  const tile = ((column >> 6) & 15) * 16 + ((row >> 6) & 15)
  return (((column & 255) << 24) | ((row & 255) << 16) | (tile << 8) | (row & 32 ? 128 : 255)) >>> 0
}

/** Draws the picture that a service returns for a square. */
function draw({ x, y, left, top, width, height }: Square) {
  const data = Buffer.alloc(width * height * 4)
  for (let at = 0; at < width * height; at++) {
    const [column, row] = [x * SIZE - left + (at % width), y * SIZE - top + Math.floor(at / width)]
    data.writeUInt32BE(pixelAt(column, row), at * 4)
  }
  return sharp(data, { raw: { width, height, channels: 4 } })
}

test.each([
  ['in the middle', 5, 9, 14, { x: 8, y: 12, columns: 4, rows: 4, left: MARGIN, top: MARGIN, width: 384, height: 384 }],
  [
    'at the corner of the world',
    3,
    0,
    0,
    { x: 0, y: 0, columns: 4, rows: 4, left: 0, top: 0, width: 320, height: 320 },
  ],
  [
    'at the other corner',
    3,
    7,
    7,
    { x: 4, y: 4, columns: 4, rows: 4, left: MARGIN, top: MARGIN, width: 320, height: 320 },
  ],
  ['of a grid of its own size', 2, 3, 1, { x: 0, y: 0, columns: 4, rows: 4, left: 0, top: 0, width: 256, height: 256 }],
  ['of a smaller grid', 1, 1, 0, { x: 0, y: 0, columns: 2, rows: 2, left: 0, top: 0, width: 128, height: 128 }],
  ['of one tile', 0, 0, 0, { x: 0, y: 0, columns: 1, rows: 1, left: 0, top: 0, width: 64, height: 64 }],
])('each tile of a square %s has exactly its own pixels', async (_, z, x, y, expected) => {
  const square = squareAt(z, x, y)
  expect(square).toMatchObject(expected)
  const tiles = await cutSquare(await draw(square).png({ compressionLevel: 1 }).toBuffer(), square, SIZE, 'png')
  expect(tiles).toHaveLength(square.columns * square.rows)
  for (const { place, bytes } of tiles) {
    await checkTile(bytes, 'png', { formats: ['png'], sizes: [SIZE] })
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
    expect([info.width, info.height, info.channels]).toEqual([SIZE, SIZE, 4])
    for (const [column, row] of [
      [0, 0],
      [63, 0],
      [0, 63],
      [63, 63],
      [25, 40],
    ] as const) {
      const at = (row * SIZE + column) * 4
      expect(data.readUInt32BE(at)).toBe(pixelAt(place.x * SIZE + column, place.y * SIZE + row))
    }
  }
})

test('a square of JPEG is cut at the same places, in the colours of its tiles', async () => {
  const square = squareAt(3, 4, 4)
  const { columns, rows, left, top, width, height } = square
  const colour = (i: number) => ({ r: (i % 4) * 80, g: Math.floor(i / 4) * 80, b: 120 })
  const parts = await Promise.all(
    Array.from({ length: columns * rows }, async (_, i) => ({
      input: await sharp({ create: { width: SIZE, height: SIZE, channels: 3, background: colour(i) } })
        .png()
        .toBuffer(),
      left: left + (i % columns) * SIZE,
      top: top + Math.floor(i / columns) * SIZE,
    })),
  )
  const blank = sharp({ create: { width, height, channels: 3, background: '#ffffff' } })
  const tiles = await cutSquare(await blank.composite(parts).jpeg({ quality: 95 }).toBuffer(), square, SIZE, 'jpg')
  for (const { place, bytes } of tiles) {
    await checkTile(bytes, 'jpg', { formats: ['jpg'], sizes: [SIZE] })
    const { channels } = await sharp(bytes).stats()
    const { r, g, b } = colour(place.x - square.x + (place.y - square.y) * 4)
    for (const [i, value] of [r, g, b].entries()) expect(Math.abs((channels[i]?.mean ?? -1000) - value)).toBeLessThan(4)
  }
})

/** As the sources do it: the answer is checked, and then cut. */
async function take(answer: Uint8Array, square: Square): Promise<unknown> {
  await checkTile(answer, 'png')
  return cutSquare(answer, square, SIZE, 'png')
}

const blank = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } })

test.each([
  ['a picture of another size', () => blank(256, 256).png().toBuffer(), '256 x 256 pixels in place of 384 x 384'],
  ['a picture of a type that is no tile', () => blank(384, 384).tiff().toBuffer(), 'it returns no picture'],
  [
    'an exception with status 200',
    () =>
      '<?xml version="1.0"?><ServiceExceptionReport><ServiceException code="LayerNotDefined">msWMSLoadGetMapParams(): no layer a</ServiceException></ServiceExceptionReport>',
    'msWMSLoadGetMapParams(): no layer a',
  ],
  ['a page', () => '<!DOCTYPE html><html><body><h1>Sign in first</h1></body></html>', 'Sign in first'],
  ['a picture that is cut off', async () => (await blank(384, 384).png().toBuffer()).subarray(0, 900), 'cut off'],
  [
    'a picture whose middle is missing',
    async () => {
      const whole = await draw(squareAt(5, 9, 14))
        .png()
        .toBuffer()
      return Buffer.concat([whole.subarray(0, 1500), whole.subarray(-12)])
    },
    'cannot be read',
  ],
])('%s is a failure with the words of the service', async (_, make, words) => {
  const answer = await make()
  await expect(take(Buffer.from(answer as string), squareAt(5, 9, 14))).rejects.toThrow(words)
})

test('a picture of another type of tile is cut, and sent in the type of the set', async () => {
  const square = squareAt(1, 0, 0)
  const [tile] = await cutSquare(await blank(128, 128).webp().toBuffer(), square, SIZE, 'png')
  expect((await sharp(tile?.bytes).metadata()).format).toBe('png')
})

test.each([
  ['of twice the size', () => blank(512, 512).png(), 'a picture of 512 x 512 pixels in place of 256'],
  ['that is no square', () => blank(256, 200).png(), 'a picture of 256 x 200 pixels in place of 256'],
  ['of another type', () => blank(256, 256).webp(), 'a picture of the type webp in place of png or jpg'],
] as const)('a tile %s is a failure of a service that names what it has', async (_, make, words) => {
  const bytes = await make().toBuffer()
  await expect(checkTile(bytes, 'png', { formats: ['png', 'jpg'], sizes: [256] })).rejects.toThrow(words)
  await checkTile(bytes, 'png')
})

test.each(['jpeg', 'webp', 'avif', 'png'] as const)('the size of a tile of the type %s is known', async (type) => {
  const bytes = await blank(300, 300).toFormat(type).toBuffer()
  const expected = { formats: null, sizes: [256, 512] }
  await expect(checkTile(bytes, 'png', expected)).rejects.toThrow('300 x 300 pixels in place of 256 or 512')
  await checkTile(bytes, 'png', { formats: null, sizes: [300] })
})
