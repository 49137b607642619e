type Row = Readonly<Record<string, string | number | null>>

interface Column {
  readonly key: string
  readonly name: string
  readonly type: 'C' | 'N'
  readonly width: number
  readonly decimals: number
}

/** Limits of the format: bytes of a column's name and of a text. */
const MAX_NAME = 10
const MAX_TEXT = 254

const VERSION = 0x03
const HEADER_BYTES = 32
const COLUMN_BYTES = 32
const END_OF_HEADER = 0x0d
const END_OF_FILE = 0x1a

/**
 * The .dbf file of a table: dBASE III, texts in UTF-8 (say so in a .cpg file beside it). Columns are the properties of the first row;
 * names are cut to ten bytes and must still differ. null is written as blanks.
 */
export function encodeTable(rows: readonly Row[], modified: Date): Buffer {
  const columns = Object.keys(rows[0] ?? {}).map((key) => describeColumn(key, rows))
  if (new Set(columns.map(({ name }) => name)).size < columns.length) throw new Error('column names collide')
  const headerBytes = HEADER_BYTES + COLUMN_BYTES * columns.length + 1
  const rowBytes = 1 + columns.reduce((sum, { width }) => sum + width, 0)
  const header = Buffer.alloc(headerBytes)
  header[0] = VERSION
  header.set([modified.getUTCFullYear() - 1900, modified.getUTCMonth() + 1, modified.getUTCDate()], 1)
  header.writeUInt32LE(rows.length, 4)
  header.writeUInt16LE(headerBytes, 8)
  header.writeUInt16LE(rowBytes, 10)
  columns.forEach((column, i) => {
    writeColumn(header, HEADER_BYTES + COLUMN_BYTES * i, column)
  })
  header[headerBytes - 1] = END_OF_HEADER
  const body = rows.map((row) =>
    Buffer.concat([Buffer.from(' '), ...columns.map((column) => encodeCell(column, row[column.key]))]),
  )
  return Buffer.concat([header, ...body, Buffer.from([END_OF_FILE])])
}

function describeColumn(key: string, rows: readonly Row[]): Column {
  const name = key.slice(0, MAX_NAME)
  const values = rows.map((row) => row[key]).filter((value) => value !== null && value !== undefined)
  if (values.length === 0 || values.some((value) => typeof value === 'string')) {
    const longest = Math.max(1, ...values.map((value) => Buffer.byteLength(String(value))))
    return { key, name, type: 'C', width: Math.min(longest, MAX_TEXT), decimals: 0 }
  }
  const decimals = Math.max(0, ...values.map((value) => String(value).split('.')[1]?.length ?? 0))
  const width = Math.max(...values.map((value) => Number(value).toFixed(decimals).length))
  return { key, name, type: 'N', width, decimals }
}

function writeColumn(header: Buffer, start: number, { name, type, width, decimals }: Column): void {
  header.write(name, start, 'ascii')
  header.write(type, start + 11, 'ascii')
  header[start + 16] = width
  header[start + 17] = decimals
}

function encodeCell({ type, width, decimals }: Column, value: string | number | null | undefined): Buffer {
  const cell = Buffer.alloc(width, ' ')
  if (value === null || value === undefined) return cell
  if (type === 'N') cell.write(Number(value).toFixed(decimals).padStart(width))
  // `write` never cuts a character in two.
  else cell.write(String(value))
  return cell
}
