import type { DrawAnswer, DrawTask } from '@gateway/contracts/drawing.js'
import { serve } from '@gateway/core/processes/serve.js'
import sharp, { type Sharp } from 'sharp'
import { Studio } from './studio.js'

const studio = new Studio()

/** Quality of pictures that may lose details: labels stay sharp. */
const QUALITY = 88
/** Transparent parts of a style are white in a format without transparency. */
const GROUND = '#ffffff'

serve<DrawTask, DrawAnswer>(async (task, progress) => {
  const drawn = await studio.draw(task, () => progress('drawing'))
  if (!drawn.ok) return drawn
  return { ok: true, pieces: await encode(drawn.pixels, task) }
})

/** Cuts pixels in RGB or RGBA into the pieces of a task, by rows from the north, and encodes them. */
function encode(pixels: Buffer, { width, height, ratio, pieces, format }: DrawTask): Promise<Uint8Array[]> {
  const size = { width: width * ratio, height: height * ratio }
  const channels = pixels.length / (size.width * size.height)
  if (channels !== 3 && channels !== 4) throw new Error('the picture has another size')
  const piece = { width: size.width / pieces, height: size.height / pieces }
  const places = Array.from({ length: pieces ** 2 }, (_, i) => ({
    left: (i % pieces) * piece.width,
    top: Math.floor(i / pieces) * piece.height,
    ...piece,
  }))
  return Promise.all(
    places.map((place) => {
      const cut = sharp(pixels, { raw: { ...size, channels } }).extract(place)
      return encoded(cut, format).toBuffer()
    }),
  )
}

function encoded(picture: Sharp, format: DrawTask['format']): Sharp {
  if (format === 'png') return picture.png({ compressionLevel: 6 })
  if (format === 'webp') return picture.webp({ quality: QUALITY, effort: 2 })
  return picture.flatten({ background: GROUND }).jpeg({ quality: QUALITY })
}
