import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { examineSample, formatBySamples } from './sample.js'

/** Images in one colour, 64 by 64 pixels. */
const IMAGES = {
  png: `iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAoElEQVRoge2SQQkAQRDDqqFaTkv8S1kR9wgDhQhIQ9OP00Q36Aag
    V+wuxF2iG3QD0Ct2F+Iu0Q26AegVuwtxl+gG3QD0it2FuEt0g24AesXuQtwlukE3AL1idyHuEt2gG4BesbsQd4lu0A1Ar9hdiLtEN+gGoFfsLsRdoht0A9ArdhfiLtENugHo
    FbsLcZfoBt0A9IrdhbhLdINuAHrFPzy5D8CI3+mhfgAAAABJRU5ErkJggg==`,
  jpg: `/9j/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSopGR8tMC0oMCUoKSj/wAARCABAAEADASIAAhEBAxEB/9k=`,
  webp: 'UklGRkgAAABXRUJQVlA4IDwAAADQAwCdASpAAEAAPm02mUkkIyKhIggAgA2JaQB2AAAgbqagCvELcgAA/vbmB/9REQUksP/xC72MKAAAAAA=',
  avif: `AAAAHGZ0eXBhdmlmAAAAAG1pZjFhdmlmbWlhZgAAANZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAAA
    +gABAAAAAAAAACsAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABhdjAxAAAAAA5waXRtAAAAAAABAAAAVmlwcnAAAAA4aXBjbwAAAAxhdjFDgSACAAAAABRpc3BlAAAA
    AAAAAEAAAABAAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEAAQOBAgMAAAAzbWRhdBIACgk4FX/9pAQ0GkAyHBlCYwTDzzzzQSAAz8xFIr4ZHUMq0DSzT/2CS4A=`,
} as const
const image = (format: keyof typeof IMAGES) => Buffer.from(IMAGES[format], 'base64')

test.each(['png', 'jpg', 'webp', 'avif'] as const)('the size of a %s tile is read from its bytes', (format) => {
  expect(examineSample(format, image(format))).toEqual({ tileSize: 64, encoding: 'identity', warnings: [] })
})

test('an image in gzip is an image, and vector tiles that are declared as one are served as what they are', () => {
  const packed = gzipSync(image('png'))
  expect(formatBySamples('png', [packed])).toEqual({ format: 'png', formats: null, warnings: [] })
  expect(examineSample('png', packed)).toEqual({ tileSize: 64, encoding: 'gzip', warnings: [] })
  const layer = Buffer.from('1a070a016c28802078', 'hex')
  for (const tile of [layer, gzipSync(layer)])
    expect(formatBySamples('png', [tile])).toMatchObject({
      format: 'pbf',
      warnings: ['the tiles are declared as png, but their bytes are pbf: they are served as pbf'],
    })
  expect(formatBySamples('png', [gzipSync('text')]).format).toBe('png')
})

const box = (name: string, content: Buffer, length = 8 + content.length) => {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(length)
  head.write(name, 4)
  return Buffer.concat([head, content])
}
const avif = (ispe: Buffer) =>
  Buffer.concat([
    box('ftyp', Buffer.from('avif\0\0\0\0avifmif1', 'latin1')),
    box('meta', Buffer.concat([Buffer.alloc(4), box('iprp', box('ipco', ispe))])),
  ])

test.each([
  ['an AVIF box of length 0', avif(box('ispe', Buffer.alloc(30), 0))],
  ['an icon entry of length 0', Buffer.concat([Buffer.from('icns\0\0\x01\0ic09', 'latin1'), Buffer.alloc(300)])],
  ['a drawing without a size', Buffer.from('<svg viewBox="0 0 1e999 0" width="x" height="0"></svg>')],
  ['nothing behind a signature', Buffer.from('ftypavif'.padStart(12, '\0'))],
])('an image that would hang or mislead a reader gets the default size: %s', (_, data) => {
  const { tileSize, warnings } = examineSample('avif', data)
  expect(tileSize).toBe(256)
  expect(warnings).toContain('the size of a tile could not be read from it')
})

test.each([0, 16_385, 2 ** 31, 2 ** 32 - 1])('a tile cannot be %d pixels wide', (width) => {
  const data = image('png')
  data.writeUInt32BE(width, 16)
  expect(examineSample('png', data)).toMatchObject({ tileSize: 256 })
})
