import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { ZipArchive } from 'archiver'
import { kindOfBlob } from '../index-file/geopackage-geometry.js'
import { type IndexField, quoted } from '../index-file/index-description.js'
import type { FormTask } from '../query/conversion.js'
import { toCrs } from '../query/crs.js'
import { inGisOrder } from '../query/flatgeobuf-encoder.js'
import { geometryOf } from '../query/geometry.js'
import { fieldsOf } from '../query/parameters.js'
import { plainText } from '../query/values.js'
import { prjOf } from './prj.js'
import { IndexRows, type RowValue } from './rows.js'
import { cut, type DbfColumn, ShapeWriter } from './shape-writer.js'

/** Kinds of geometries that one shapefile holds, by the end of its name if there are several, and the type of its shapes. */
const SHAPES = {
  points: { kinds: [1], type: 1 },
  multipoints: { kinds: [4], type: 8 },
  lines: { kinds: [2, 5], type: 3 },
  polygons: { kinds: [3, 6], type: 5 },
} as const
type Shape = keyof typeof SHAPES

/** Limits of a dBASE table: bytes of a name and of a text. */
const NAME_BYTES = 10
const TEXT_BYTES = 254

/**
 * Writes a zip of shapefiles, one for each layer and kind of geometry; collections have no place in them. Names are cut to 10 bytes and texts to 254,
 * in UTF-8, since the format has no more.
 */
export async function writeShapefiles(task: FormTask): Promise<void> {
  const { description, index, output, code } = task
  const folder = fs.mkdtempSync(join(dirname(output), 'shapes-'))
  const rows = new IndexRows(index)
  try {
    const names = new Set<string>()
    for (const { id } of description.layers) {
      const name = safeName(description.layers.length === 1 ? code : id, names)
      const shapes = shapesIn(rows, id)
      for (const [i, shape] of shapes.entries())
        writeOne(task, rows, {
          layer: id,
          path: join(folder, shapes.length === 1 ? name : `${name}_${shape}`),
          shape,
          withRest: i === 0,
        })
    }
    await pack(folder, output)
  } finally {
    rows.close()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function shapesIn(rows: IndexRows, layer: string): Shape[] {
  const kinds = new Set<number>()
  for (const [, , blob] of rows.of(layer, [])) kinds.add(kindOf(blob))
  const found = (Object.keys(SHAPES) as Shape[]).filter((shape) => SHAPES[shape].kinds.some((kind) => kinds.has(kind)))
  return found.length > 0 ? found : ['points']
}

/** The flag of an empty geometry in the header of its blob. */
const EMPTY = 16

/** Returns 0 for a feature without a place. */
function kindOf(blob: RowValue | undefined): number {
  return blob instanceof Uint8Array && ((blob[3] as number) & EMPTY) === 0 ? kindOfBlob(blob) : 0
}

interface One {
  readonly layer: string
  /** without an extension */
  readonly path: string
  readonly shape: Shape
  /** true if features without a geometry are in it, too */
  readonly withRest: boolean
}

function writeOne({ description, crs }: FormTask, rows: IndexRows, { layer, path, shape, withRest }: One): void {
  const fields = fieldsOf(description).filter(({ layers }) => layers.includes(layer))
  const columns = columnsOf(rows, layer, fields)
  const convert = inGisOrder(toCrs(crs), crs)
  const { kinds, type } = SHAPES[shape]
  const writer = new ShapeWriter(path, type, description.has_z === true, columns)
  try {
    for (const [, , blob, ...values] of rows.of(layer, fields)) {
      const kind = kindOf(blob)
      if (!(kinds as readonly number[]).includes(kind) && !(withRest && kind === 0)) continue
      writer.add(
        blob instanceof Uint8Array ? geometryOf(blob, convert) : null,
        values.map((value, i) => cellOf(value, fields[i] as IndexField)),
      )
    }
    writer.finish()
  } finally {
    writer.close()
  }
  fs.writeFileSync(`${path}.cpg`, 'UTF-8')
  const prj = prjOf(crs)
  if (prj !== null) fs.writeFileSync(`${path}.prj`, prj)
}

function columnsOf(rows: IndexRows, layer: string, fields: readonly IndexField[]): DbfColumn[] {
  const taken = new Set<string>()
  const columns = fields.map((field): DbfColumn => {
    const name = shortName(field.shown ?? field.name, taken)
    const widest = Number(
      rows.value(
        `SELECT coalesce(max(length(CAST(${quoted(field.column)} AS BLOB))), 1) FROM features WHERE layer = ?`,
        layer,
      ),
    )
    switch (field.type) {
      case 'integer':
        return { name, type: 'N', width: Math.min(20, Math.max(1, widest)), decimals: 0 }
      case 'number':
        return { name, type: 'N', width: 24, decimals: 15 }
      case 'boolean':
        return { name, type: 'L', width: 1, decimals: 0 }
      case 'date':
        return { name, type: 'D', width: 8, decimals: 0 }
      default:
        return { name, type: 'C', width: Math.min(TEXT_BYTES, Math.max(1, widest)), decimals: 0 }
    }
  })
  // A table has at least one column.
  return columns.length > 0 ? columns : [{ name: 'FID', type: 'N', width: 11, decimals: 0 }]
}

function shortName(name: string, taken: Set<string>): string {
  let short = cut(name, NAME_BYTES)
  for (let n = 1; taken.has(short.toLowerCase()); n++) short = `${cut(name, NAME_BYTES - 1 - String(n).length)}_${n}`
  taken.add(short.toLowerCase())
  return short
}

function cellOf(value: RowValue, { type }: IndexField): string | null {
  if (value === null || value instanceof Uint8Array) return null
  if (type === 'boolean') return value === 0n || value === 0 ? 'F' : 'T'
  if (type === 'date') return String(value).replaceAll('-', '').slice(0, 8)
  return typeof value === 'bigint' ? String(value) : plainText(type, value)
}

/** Converts the name of a layer to a file name that no other one has. */
function safeName(name: string, taken: Set<string>): string {
  const safe = cut(name.replaceAll(/[/\\\0]/g, '_'), 100)
  let free = safe
  for (let n = 2; taken.has(free.toLowerCase()); n++) free = `${safe}_${n}`
  taken.add(free.toLowerCase())
  return free
}

async function pack(folder: string, output: string): Promise<void> {
  const archive = new ZipArchive({ zlib: { level: 6 } })
  const target = fs.createWriteStream(output, { flags: 'wx' })
  const failed = new Promise<never>((_, reject) => archive.once('error', reject))
  archive.pipe(target)
  for (const name of fs.readdirSync(folder).sort()) archive.file(join(folder, name), { name })
  await Promise.race([Promise.all([archive.finalize(), finished(target)]), failed])
}
