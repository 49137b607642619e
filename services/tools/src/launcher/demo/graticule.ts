import type { WorldImage } from './world-image.js'

const STEP_DEGREES = 15

/** Share of white in a line's pixel. */
const OPACITY = 0.35

/** Draws meridians and parallels, one pixel wide, into the image. */
export function drawGraticule({ size, pixels }: WorldImage): void {
  for (let degrees = -165; degrees < 180; degrees += STEP_DEGREES) {
    const x = Math.round(((degrees + 180) / 360) * size)
    for (let y = 0; y < size; y++) whiten(pixels, y * size + x)
  }
  for (let degrees = -75; degrees <= 75; degrees += STEP_DEGREES) {
    const mercator = Math.asinh(Math.tan((degrees * Math.PI) / 180)) / Math.PI
    const y = Math.round(((1 - mercator) / 2) * size)
    for (let x = 0; x < size; x++) whiten(pixels, y * size + x)
  }
}

function whiten(pixels: Buffer, pixel: number): void {
  for (let i = pixel * 3; i < pixel * 3 + 3; i++) pixels[i] = pixels[i]! + (255 - pixels[i]!) * OPACITY
}
