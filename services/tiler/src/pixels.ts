/** Pure arithmetic on tiles of interleaved 8-bit RGBA with straight (not premultiplied) alpha. */

export type AlphaKind = 'empty' | 'partial' | 'opaque'

/** The pixels of a tile, with the kind of its alpha, which decides how it is merged and stored. */
export interface Pixels {
  readonly data: Buffer
  readonly alpha: AlphaKind
}

export function alphaKind(data: Buffer): AlphaKind {
  let anyAlpha = 0
  let allAlpha = 255
  for (let i = 3; i < data.length; i += 4) {
    const alpha = data[i]!
    anyAlpha |= alpha
    allAlpha &= alpha
    if (anyAlpha !== 0 && allAlpha !== 255) return 'partial'
  }
  if (anyAlpha === 0) return 'empty'
  return allAlpha === 255 ? 'opaque' : 'partial'
}

/**
 * Draws `above` over `below`. Colours are mixed by the operator "over". The alpha is the greater of the two instead of their
 * sum, so that drawing the same tile twice gives the same tile, and edges do not thicken with every submission.
 */
export function layOver(above: Buffer, below: Buffer): Buffer {
  const result = Buffer.from(above)
  for (let i = 0; i < result.length; i += 4) {
    const alpha = above[i + 3]!
    const alphaBelow = below[i + 3]!
    if (alpha === 255 || alphaBelow === 0) continue
    if (alpha === 0) {
      result[i] = below[i]!
      result[i + 1] = below[i + 1]!
      result[i + 2] = below[i + 2]!
      result[i + 3] = alphaBelow
      continue
    }
    const weight = alpha * 255
    const weightBelow = alphaBelow * (255 - alpha)
    const total = weight + weightBelow
    for (let band = 0; band < 3; band++) {
      result[i + band] = ((above[i + band]! * weight + below[i + band]! * weightBelow) / total + 0.5) | 0
    }
    result[i + 3] = Math.max(alpha, alphaBelow)
  }
  return result
}

/** The four children of a tile, in the order north-west, north-east, south-west, south-east. */
export type Children = readonly [Pixels | null, Pixels | null, Pixels | null, Pixels | null]

/** Returns the overview tile of four children: every pixel is the mean of 2×2, weighted by alpha. */
export function downsample(children: Children, tileSize: number): Pixels {
  const data = Buffer.alloc(tileSize * tileSize * 4)
  const half = tileSize / 2
  children.forEach((child, quadrant) => {
    if (!child) return
    const start = ((quadrant >> 1) * half * tileSize + (quadrant & 1) * half) * 4
    if (child.alpha === 'opaque') shrinkOpaque(child.data, data, start, tileSize)
    else shrinkPartial(child.data, data, start, tileSize)
  })
  const opaque = children.every((child) => child?.alpha === 'opaque')
  return { data, alpha: opaque ? 'opaque' : alphaKind(data) }
}

/** Returns the overview tile of four children whose colours stand for classes: every pixel is the most frequent visible one of 2×2. */
export function downsampleClasses(children: Children, tileSize: number): Pixels {
  const data = Buffer.alloc(tileSize * tileSize * 4)
  const half = tileSize / 2
  const row = tileSize * 4
  children.forEach((child, quadrant) => {
    if (!child) return
    const start = ((quadrant >> 1) * half * tileSize + (quadrant & 1) * half) * 4
    for (let y = 0; y < half; y++) {
      for (let x = 0; x < half; x++) {
        const from = 2 * y * row + 8 * x
        data.writeUInt32LE(mostFrequent(child.data, from, row), start + y * row + 4 * x)
      }
    }
  })
  return { data, alpha: alphaKind(data) }
}

/** The most frequent of four pixels; the first one if several are equally frequent. */
function mostFrequent(data: Buffer, at: number, row: number): number {
  const pixels = [at, at + 4, at + row, at + row + 4].filter((place) => data[place + 3] !== 0)
  const values = pixels.map((place) => data.readUInt32LE(place))
  let best = 0
  let most = 0
  for (const value of values) {
    const count = values.reduce((sum, other) => sum + (other === value ? 1 : 0), 0)
    if (count > most) {
      best = value
      most = count
    }
  }
  return best
}

function shrinkOpaque(from: Buffer, to: Buffer, start: number, tileSize: number): void {
  const row = tileSize * 4
  for (let y = 0; y < tileSize / 2; y++) {
    let a = 2 * y * row
    let out = start + y * row
    for (let x = 0; x < tileSize / 2; x++, a += 8, out += 4) {
      const c = a + row
      to[out] = (from[a]! + from[a + 4]! + from[c]! + from[c + 4]! + 2) >> 2
      to[out + 1] = (from[a + 1]! + from[a + 5]! + from[c + 1]! + from[c + 5]! + 2) >> 2
      to[out + 2] = (from[a + 2]! + from[a + 6]! + from[c + 2]! + from[c + 6]! + 2) >> 2
      to[out + 3] = 255
    }
  }
}

function shrinkPartial(from: Buffer, to: Buffer, start: number, tileSize: number): void {
  const row = tileSize * 4
  for (let y = 0; y < tileSize / 2; y++) {
    let a = 2 * y * row
    let out = start + y * row
    for (let x = 0; x < tileSize / 2; x++, a += 8, out += 4) {
      const b = a + 4
      const c = a + row
      const d = c + 4
      const alphaA = from[a + 3]!
      const alphaB = from[b + 3]!
      const alphaC = from[c + 3]!
      const alphaD = from[d + 3]!
      const sum = alphaA + alphaB + alphaC + alphaD
      if (sum === 0) continue
      for (let band = 0; band < 3; band++) {
        const weighed =
          from[a + band]! * alphaA + from[b + band]! * alphaB + from[c + band]! * alphaC + from[d + band]! * alphaD
        to[out + band] = (weighed / sum + 0.5) | 0
      }
      // Never rounded to 0, so that a small source leaves a trace at every zoom above it.
      to[out + 3] = Math.max(1, (sum + 2) >> 2)
    }
  }
}
