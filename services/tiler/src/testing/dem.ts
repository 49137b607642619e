import { writeFileSync } from 'node:fs'

/** Writes a TIFF (6.0, little-endian, one strip) of one band of doubles. */
export function writeDem(file: string, side: number, height: (column: number, row: number) => number): void {
  const entries: [tag: number, type: 3 | 4, value: number][] = [
    [256, 3, side],
    [257, 3, side],
    [258, 3, 64],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 8 + 2 + 10 * 12 + 4],
    [277, 3, 1],
    [278, 3, side],
    [279, 4, side * side * 8],
    [339, 3, 3],
  ]
  const start = 8 + 2 + entries.length * 12 + 4
  const data = Buffer.alloc(start + side * side * 8)
  data.write('II*\0\u0008\0\0\0', 'latin1')
  data.writeUInt16LE(entries.length, 8)
  for (const [index, [tag, type, value]] of entries.entries()) {
    const at = 10 + index * 12
    data.writeUInt16LE(tag, at)
    data.writeUInt16LE(type, at + 2)
    data.writeUInt32LE(1, at + 4)
    if (type === 3) data.writeUInt16LE(value, at + 8)
    else data.writeUInt32LE(value, at + 8)
  }
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      data.writeDoubleLE(height(column, row), start + (row * side + column) * 8)
    }
  }
  writeFileSync(file, data)
}
