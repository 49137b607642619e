// Reads what a map has painted, before the browser presents it.

/** Paints only the part of a picture that is kept: the margin is there for the labels. */
export function withoutMargin(gl, { width, height, ratio, margin }, paint) {
  const bind = gl.bindFramebuffer
  const limit = (isCanvas) => (isCanvas ? gl.enable(gl.SCISSOR_TEST) : gl.disable(gl.SCISSOR_TEST))
  // Heights, for example, are first painted into textures, which have no margin.
  gl.bindFramebuffer = (target, buffer) => {
    bind.call(gl, target, buffer)
    limit(buffer === null)
  }
  gl.scissor(margin * ratio, margin * ratio, width * ratio, height * ratio)
  limit(true)
  try {
    paint()
  } finally {
    limit(false)
    delete gl.bindFramebuffer
  }
}

/** Returns the pixels of a picture as `packed` does. */
export function pixelsOf({ context: { gl } }, { width, height, ratio, margin }) {
  const [columns, rows, edge] = [width * ratio, height * ratio, margin * ratio]
  const upwards = new Uint8Array(columns * rows * 4)
  gl.bindFramebuffer(gl.FRAMEBUFFER, null)
  gl.readPixels(edge, edge, columns, rows, gl.RGBA, gl.UNSIGNED_BYTE, upwards)
  const pixels = new Uint8Array(upwards.length)
  const length = columns * 4
  for (let row = 0; row < rows; row++)
    pixels.set(upwards.subarray(row * length, (row + 1) * length), (rows - 1 - row) * length)
  if (!isOpaque(pixels)) divideByAlpha(pixels)
  return packed(pixels)
}

/** Returns RGB if all pixels are opaque, as most styles are, and RGBA otherwise. */
export function packed(pixels) {
  if (!isOpaque(pixels)) return pixels
  const colours = new Uint8Array((pixels.length / 4) * 3)
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3) {
    colours[to] = pixels[from]
    colours[to + 1] = pixels[from + 1]
    colours[to + 2] = pixels[from + 2]
  }
  return colours
}

function isOpaque(pixels) {
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] !== 255) return false
  return true
}

/** The colours of a canvas are multiplied by their alpha. */
function divideByAlpha(pixels) {
  for (let i = 0; i < pixels.length; i += 4) {
    const alpha = pixels[i + 3]
    if (alpha === 0 || alpha === 255) continue
    for (let colour = i; colour < i + 3; colour++)
      pixels[colour] = Math.min(255, Math.round((pixels[colour] * 255) / alpha))
  }
}
