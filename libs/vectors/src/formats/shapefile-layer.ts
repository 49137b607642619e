import { crsOfPrj } from './crs.js'
import { DbfTable } from './dbf.js'
import { decoderOf } from './encoding.js'
import { DamagedFile, type SourceFeature, type SourceLayer } from './feature.js'
import type { FileWindow } from './file-window.js'
import { encodingOf, PART_BYTES, SHP_HEADER, SHP_MAGIC, SHX_ENTRY } from './shapefile.js'
import { writeShape } from './shapes.js'
import { WkbWriter } from './wkb-writer.js'

/** The open parts of a shapefile; null: absent. */
export interface ShapefileParts {
  readonly shp: FileWindow
  readonly shx: FileWindow | null
  readonly dbf: FileWindow | null
  readonly prj: string | null
  readonly cpg: Buffer | null
}

/** Bytes of a record's head: its number, and its length in units of two bytes. */
const RECORD_HEAD = 8

/** Opens the layer of a shapefile. Without a .shx, or with one of another file, the records are read in the order of the file. @param encoding null: that of its files */
export function shapefileLayer(parts: ShapefileParts, name: string, encoding: string | null): SourceLayer {
  const { shp, shx, dbf, prj, cpg } = parts
  if (shp.bytes(0, SHP_HEADER)?.readInt32BE(0) !== SHP_MAGIC) throw new DamagedFile(0, 'its .shp is no shapefile')
  const head = dbf === null ? null : Buffer.from(dbf.bytes(0, Math.min(dbf.size, PART_BYTES['.dbf'])) ?? '')
  const found = encoding ?? encodingOf(head, cpg).encoding
  const table = dbf === null ? null : DbfTable.open(dbf, decoderOf(found))
  return {
    name,
    fields: table?.fields ?? [],
    crs: prj === null ? null : crsOfPrj(prj),
    count: null,
    features: () => readFeatures(shp, shx !== null && fits(shx, table) ? shx : null, table),
  }
}

/** True if an index has an entry for each row of the table, and its first one is behind the header. */
function fits(shx: FileWindow, table: DbfTable | null): boolean {
  const entries = Math.floor((shx.size - SHP_HEADER) / SHX_ENTRY)
  const first = shx.bytes(SHP_HEADER, SHX_ENTRY)?.readUInt32BE(0) ?? 0
  return first * 2 >= SHP_HEADER && (table === null || table.records === 0 || entries >= table.records)
}

function* readFeatures(
  shp: FileWindow,
  shx: FileWindow | null,
  table: DbfTable | null,
): Generator<SourceFeature, void> {
  const writer = new WkbWriter()
  const none = table?.fields.map(() => null) ?? []
  let row = 0
  for (const record of shx === null ? recordsInOrder(shp) : recordsByIndex(shp, shx)) {
    const values = table === null ? none : table.row(row)
    row++
    if (values === undefined) continue
    let geometry: Uint8Array | null = null
    let isDamaged = record === 'damaged'
    if (record !== 'damaged') {
      writer.begin()
      try {
        if (writeShape(record, writer) !== null) geometry = writer.end()
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        isDamaged = true
      }
    }
    yield { id: null, row, geometry, isDamaged, values }
  }
}

function* recordsByIndex(shp: FileWindow, shx: FileWindow): Generator<Buffer | 'damaged', void> {
  const count = Math.floor((shx.size - SHP_HEADER) / SHX_ENTRY)
  for (let i = 0; i < count; i++) {
    const entry = shx.bytes(SHP_HEADER + i * SHX_ENTRY, SHX_ENTRY)
    if (entry === null) throw new DamagedFile(i, 'its .shx ends in the middle')
    const [at, length] = [entry.readUInt32BE(0) * 2, entry.readUInt32BE(4) * 2]
    if (at + RECORD_HEAD + length > shp.size) throw new DamagedFile(i, 'its .shp ends in the middle')
    yield length < 4 ? 'damaged' : (shp.bytes(at + RECORD_HEAD, length) ?? 'damaged')
  }
}

function* recordsInOrder(shp: FileWindow): Generator<Buffer | 'damaged', void> {
  // The header has the length of the file, behind which programs may leave older bytes.
  const told = (shp.bytes(24, 4)?.readUInt32BE(0) ?? 0) * 2
  const end = told > SHP_HEADER ? told : shp.size
  let count = 0
  for (let at = SHP_HEADER; at < end; count++) {
    const length = (shp.bytes(at, RECORD_HEAD)?.readUInt32BE(4) ?? 0) * 2
    if (length < 4 || at + RECORD_HEAD + length > shp.size) throw new DamagedFile(count, 'its .shp ends in the middle')
    yield shp.bytes(at + RECORD_HEAD, length) ?? 'damaged'
    at += RECORD_HEAD + length
  }
}
