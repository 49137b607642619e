/** A straight segment of an outline, in pixels with y upwards: x and y of its two ends. */
export type Segment = readonly [number, number, number, number]

export interface DistanceField {
  /** (width + 6) x (height + 6) bytes, from the top row downwards */
  readonly bitmap: Uint8Array
  readonly width: number
  readonly height: number
  /** position of the glyph's box, from the origin of the line */
  readonly left: number
  readonly top: number
}

/** Pixels around the box of a glyph. */
const BORDER = 3
/** Pixels over which the distance goes from 0 to 255, and the share inside of the outline: the values of MapLibre's glyphs. */
const RADIUS = 8
const INSIDE = 0.25
/** Distances beyond which a byte is 0, or 255. */
const FARTHEST = RADIUS * (1 - INSIDE)
/** Maximum pixels of a side. */
const MAX_SIDE = 256

/** Returns the signed distances to an outline, filled by the non-zero winding rule; null: it encloses nothing. */
export function distanceField(segments: readonly Segment[]): DistanceField | null {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x0, y0, x1, y1] of segments) {
    minX = Math.min(minX, x0, x1)
    maxX = Math.max(maxX, x0, x1)
    minY = Math.min(minY, y0, y1)
    maxY = Math.max(maxY, y0, y1)
  }
  if (!Number.isFinite(minX + minY + maxX + maxY)) return null
  const [left, bottom, right, top] = [Math.floor(minX), Math.floor(minY), Math.ceil(maxX), Math.ceil(maxY)]
  const [width, height] = [right - left, top - bottom]
  if (width === 0 || height === 0 || width > MAX_SIDE || height > MAX_SIDE) return null
  const [columns, rows] = [width + 2 * BORDER, height + 2 * BORDER]
  const squares = new Float64Array(columns * rows).fill(FARTHEST * FARTHEST)
  const [originX, originY] = [left - BORDER, top + BORDER]
  for (const [x0, y0, x1, y1] of segments)
    measure(squares, columns, rows, x0 - originX, originY - y0, x1 - originX, originY - y1)
  const inside = fill(segments, columns, rows, originX, originY)
  const bitmap = new Uint8Array(columns * rows)
  for (let i = 0; i < bitmap.length; i++) {
    const distance = Math.sqrt(squares[i] as number) * (inside[i] === 1 ? -1 : 1)
    bitmap[i] = Math.max(0, Math.min(255, Math.round(255 - 255 * (distance / RADIUS + INSIDE))))
  }
  return { bitmap, width, height, left, top }
}

/** Lowers the squared distances of the pixels nearest to a segment; y downwards. */
function measure(
  squares: Float64Array,
  columns: number,
  rows: number,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
): void {
  const [dx, dy] = [x1 - x0, y1 - y0]
  const length = dx * dx + dy * dy
  const firstX = Math.max(0, Math.floor(Math.min(x0, x1) - FARTHEST))
  const lastX = Math.min(columns - 1, Math.ceil(Math.max(x0, x1) + FARTHEST))
  const firstY = Math.max(0, Math.floor(Math.min(y0, y1) - FARTHEST))
  const lastY = Math.min(rows - 1, Math.ceil(Math.max(y0, y1) + FARTHEST))
  for (let row = firstY; row <= lastY; row++) {
    const py = row + 0.5 - y0
    for (let column = firstX; column <= lastX; column++) {
      const px = column + 0.5 - x0
      let t = (px * dx + py * dy) / length
      t = t < 0 ? 0 : t > 1 ? 1 : t
      const [ex, ey] = [px - t * dx, py - t * dy]
      const square = ex * ex + ey * ey
      const at = row * columns + column
      if (square < (squares[at] as number)) squares[at] = square
    }
  }
}

/** Returns 1 for each pixel whose centre is inside. */
function fill(
  segments: readonly Segment[],
  columns: number,
  rows: number,
  originX: number,
  originY: number,
): Uint8Array {
  // The change of the winding number at each place, for all pixels to its right in the row.
  const turns = new Int16Array((columns + 1) * rows)
  for (const [x0, y0, x1, y1] of segments) {
    const [top, bottom] = [originY - Math.max(y0, y1), originY - Math.min(y0, y1)]
    const direction = y1 > y0 ? 1 : -1
    for (let row = Math.max(0, Math.ceil(top - 0.5)); row < rows && row + 0.5 < bottom; row++) {
      const y = originY - (row + 0.5)
      const x = x0 + ((y - y0) / (y1 - y0)) * (x1 - x0) - originX
      const column = Math.min(columns, Math.max(0, Math.ceil(x - 0.5)))
      const at = row * (columns + 1) + column
      turns[at] = (turns[at] as number) + direction
    }
  }
  const inside = new Uint8Array(columns * rows)
  for (let row = 0; row < rows; row++) {
    let winding = 0
    for (let column = 0; column < columns; column++) {
      winding += turns[row * (columns + 1) + column] as number
      if (winding !== 0) inside[row * columns + column] = 1
    }
  }
  return inside
}
