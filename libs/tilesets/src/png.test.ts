import sharp from 'sharp'
import { expect, test } from 'vitest'
import { encodePng, pngHead } from './png.js'

const noise = (bytes: number) => Uint8Array.from({ length: bytes }, (_, i) => (i * 7_919) % 251)

test.each([3, 4])('a part of an image of %i channels is the same after a look at its PNG', async (channels) => {
  const data = noise(40 * 30 * channels)
  const part = { left: 7, top: 5, width: 20, height: 10 }
  const file = await encodePng({ data, stride: 40, channels, ...part }, 4)
  const { data: read, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true })
  expect([info.width, info.height, info.channels]).toEqual([20, 10, channels])
  const rows = Array.from({ length: 10 }, (_, row) => {
    const from = ((5 + row) * 40 + 7) * channels
    return data.subarray(from, from + 20 * channels)
  })
  expect(read.equals(Buffer.concat(rows))).toBe(true)
})

test('the head of a PNG tells its size, and whether it may be transparent', async () => {
  const image = (channels: 3 | 4) => sharp(noise(12 * 9 * channels), { raw: { width: 12, height: 9, channels } })
  const size = { width: 12, height: 9 }
  expect(pngHead(await image(3).png().toBuffer())).toEqual({ ...size, hasAlpha: false })
  expect(pngHead(await image(4).png().toBuffer())).toEqual({ ...size, hasAlpha: true })
  expect(pngHead(await image(4).png({ palette: true }).toBuffer())).toEqual({ ...size, hasAlpha: true })
  expect(pngHead(await image(3).jpeg().toBuffer())).toBeNull()
  expect(pngHead((await image(3).png().toBuffer()).subarray(0, 32))).toBeNull()
})
