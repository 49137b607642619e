import { writeFileSync } from 'node:fs'

/** Pixels of a side, 1.40625 degrees each: at zoom 0 and at the equator one pixel of a tile. */
export const RAMP_PIXELS = 64
export const RAMP_REFERENCE = ['-a_srs', 'EPSG:4326', '-a_ullr', '0', '45', '90', '-45']
/** Columns from the west that hold nothing. */
export const RAMP_EMPTY = 16

/**
 * Writes a TIFF (6.0, little-endian, one strip) of two bands of doubles: values that rise from `low` to `high` from west to east, after
 * columns of `empty`; and 0 where they are empty, `opaque` elsewhere.
 */
export function writeRamp(file: string, low: number, high: number, empty: number, opaque: number): void {
  const pixels = RAMP_PIXELS * RAMP_PIXELS
  const entries: [tag: number, type: 3 | 4, values: number[]][] = [
    [256, 3, [RAMP_PIXELS]],
    [257, 3, [RAMP_PIXELS]],
    [258, 3, [64, 64]],
    [259, 3, [1]],
    [262, 3, [1]],
    [273, 4, [0]],
    [277, 3, [2]],
    [278, 3, [RAMP_PIXELS]],
    [279, 4, [pixels * 16]],
    [338, 3, [0]],
    [339, 3, [3, 3]],
  ]
  const start = 8 + 2 + entries.length * 12 + 4
  const data = Buffer.alloc(start + pixels * 16)
  data.write('II*\0\u0008\0\0\0', 'latin1')
  data.writeUInt16LE(entries.length, 8)
  for (const [index, [tag, type, values]] of entries.entries()) {
    const at = 10 + index * 12
    data.writeUInt16LE(tag, at)
    data.writeUInt16LE(type, at + 2)
    data.writeUInt32LE(values.length, at + 4)
    for (const [n, value] of values.entries()) {
      if (type === 3) data.writeUInt16LE(value, at + 8 + 2 * n)
      else data.writeUInt32LE(tag === 273 ? start : value, at + 8)
    }
  }
  for (let pixel = 0; pixel < pixels; pixel++) {
    const column = pixel % RAMP_PIXELS
    const share = (column - RAMP_EMPTY) / (RAMP_PIXELS - 1 - RAMP_EMPTY)
    data.writeDoubleLE(share < 0 ? empty : low + (high - low) * share, start + pixel * 16)
    data.writeDoubleLE(share < 0 ? 0 : opaque, start + pixel * 16 + 8)
  }
  writeFileSync(file, data)
}
