/** A field of a TIFF directory: tag, TIFF field type, values. */
type Field = readonly [tag: number, type: 3 | 4 | 12, values: readonly number[]]

const BYTES = { 3: 2, 4: 4, 12: 8 } as const
const HEADER_BYTES = 8
const ENTRY_BYTES = 12

/**
 * The header of a GeoTIFF in EPSG:4326 that promises so many pixels a side and holds none of them: a few hundred bytes that ask a
 * reader for gigabytes.
 */
export function hugeHeader(side: number): Buffer {
  const fields: Field[] = [
    [256, 4, [side]],
    [257, 4, [side]],
    [258, 3, [8]],
    [259, 3, [1]],
    [262, 3, [1]],
    [273, 4, [HEADER_BYTES]],
    [277, 3, [1]],
    [278, 4, [side]],
    [279, 4, [16]],
    [33550, 12, [360 / side, 180 / side, 0]],
    [33922, 12, [0, 0, 0, -180, 90, 0]],
    [34735, 3, [1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326]],
  ]
  const directory = Buffer.alloc(2 + fields.length * ENTRY_BYTES + 4)
  directory.writeUInt16LE(fields.length, 0)
  const outside: Buffer[] = []
  let next = HEADER_BYTES + directory.length
  fields.forEach(([tag, type, values], index) => {
    const at = 2 + index * ENTRY_BYTES
    const data = Buffer.alloc(Math.max(4, values.length * BYTES[type]))
    values.forEach((value, place) => {
      if (type === 12) data.writeDoubleLE(value, place * 8)
      else data.writeUIntLE(value, place * BYTES[type], BYTES[type])
    })
    directory.writeUInt16LE(tag, at)
    directory.writeUInt16LE(type, at + 2)
    directory.writeUInt32LE(values.length, at + 4)
    if (data.length === 4) data.copy(directory, at + 8)
    else {
      directory.writeUInt32LE(next, at + 8)
      outside.push(data)
      next += data.length
    }
  })
  const header = Buffer.from([0x49, 0x49, 42, 0, HEADER_BYTES, 0, 0, 0])
  return Buffer.concat([header, directory, ...outside])
}
