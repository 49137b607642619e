import fs from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import { GDAL_CONFIGURATION } from '@gateway/contracts/tiling/gdal-configuration.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import { BARE_ENVIRONMENT, confinement } from '@gateway/core/processes/confinement.js'
import { runToEnd } from '@gateway/core/processes/run-to-end.js'
import { buildIndex } from '../index-file/build-index.js'
import { VectorFault, VectorReplaced } from '../index-file/vector-fault.js'
import type { IndexField } from '../index-file/index-description.js'
import type { Conversion, ConversionOutcome, FormTask } from './conversion.js'
import { DEFAULT_CRS } from './crs.js'
import type { ItemsQuery } from './items-query.js'
import { fieldsOf } from './parameters.js'
import { OpenIndex } from './run-query.js'

/** Makes one file out of a vector for the parent process: an index, or a download in another format. */

const DRIVERS = { gpkg: 'GPKG', fgb: 'FlatGeobuf', zip: 'ESRI Shapefile' } as const
/** Maximum time in seconds in which ogr2ogr must write something. */
const IDLE_SECONDS = 3600

async function make(conversion: Conversion): Promise<void> {
  if (conversion.what === 'index') {
    await buildIndex(conversion.task)
    return
  }
  const { task } = conversion
  await mkdir(dirname(task.output), { recursive: true })
  if (task.form === 'geojson' || task.form === 'csv') writeItems(task, task.form)
  // GDAL leaves out features without a geometry, because they cannot be in the index of the file.
  else if (task.form === 'fgb' && !locatesAll(task.index)) writeItems(task, task.form)
  else await convert(task, task.form)
}

/** Writes the same as `.../items`, without a limit. */
function writeItems({ index, description, crs, output }: FormTask, format: 'geojson' | 'csv' | 'fgb'): void {
  const fields = fieldsOf(description)
  const opened = new OpenIndex(index)
  const fd = fs.openSync(output, 'wx')
  const write = (bytes: Uint8Array | string) => {
    const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    for (let done = 0; done < whole.length; ) done += fs.writeSync(fd, whole, done)
  }
  try {
    if (format === 'geojson') write('{"type":"FeatureCollection","features":[')
    const texts = format === 'geojson' && crs.uri === DEFAULT_CRS.uri ? (description.texts ?? null) : null
    const query: ItemsQuery = {
      ...{ index, fields, selected: fields, geometryType: description.geometry_type, crs, format, texts },
      ...{ limit: Number.MAX_SAFE_INTEGER - 1, offset: 0, maxBytes: Number.POSITIVE_INFINITY },
      ...{ filter: null, id: null, sort: [], after: null },
    }
    for (const chunk of opened.run(query)) write(chunk.bytes)
    if (format === 'geojson') write(']}\n')
  } finally {
    fs.closeSync(fd)
    opened.close()
  }
}

async function convert(task: FormTask, form: keyof typeof DRIVERS): Promise<void> {
  const { output } = task
  // The driver writes a zip by itself if the file name has this extension.
  const file = form === 'zip' ? join(dirname(output), 'packed.shp.zip') : output
  const lacksSome = form === 'zip' && !locatesAll(task.index)
  for (const [i, written] of layersOf(task, form).entries()) await ogr2ogr(task, form, file, written, lacksSome, i > 0)
  if (form === 'zip') fs.renameSync(file, output)
}

/** A layer of the output. */
interface Written {
  readonly name: string
  /** layer of the index; null: all of them */
  readonly layer: string | null
  /** types of its geometries; null: all of them */
  readonly types: readonly string[] | null
  /** true if features without a geometry are in it, too */
  readonly withRest?: boolean
}

function layersOf({ index, description, code }: FormTask, form: keyof typeof DRIVERS): Written[] {
  const { layers } = description
  // FlatGeobuf holds one layer.
  const isOne = form === 'fgb' || layers.length === 1
  const named = isOne ? [{ name: code, layer: null }] : layers.map(({ id }) => ({ name: id, layer: id }))
  if (form !== 'zip') return named.map((one) => ({ ...one, types: null }))
  return named.flatMap(({ name, layer }): Written[] => {
    const shapes = shapesIn(index, layer)
    if (shapes.length < 2) return [{ name, layer, types: null }]
    return shapes.map((shape, i) => ({
      ...{ name: `${name}_${shape}`, layer, types: SHAPES[shape] },
      withRest: i === 0,
    }))
  })
}

/** Types of geometry that one shapefile holds, by the end of its name if there are several. A shapefile cannot hold collections. */
const SHAPES = {
  points: ['POINT'],
  multipoints: ['MULTIPOINT'],
  lines: ['LINESTRING', 'MULTILINESTRING'],
  polygons: ['POLYGON', 'MULTIPOLYGON'],
} as const
type Shape = keyof typeof SHAPES

function locatesAll(index: string): boolean {
  const opened = new OpenIndex(index)
  try {
    return opened.locatesAll
  } finally {
    opened.close()
  }
}

/** Returns the shapes of the geometries in a layer, in the order of `SHAPES`. */
function shapesIn(index: string, layer: string | null): Shape[] {
  const opened = new OpenIndex(index)
  try {
    const kinds = new Set([...opened.kindsOf(layer)].map((kind) => kind.toUpperCase()))
    return (Object.keys(SHAPES) as Shape[]).filter((shape) => SHAPES[shape].some((type) => kinds.has(type)))
  } finally {
    opened.close()
  }
}

async function ogr2ogr(
  { index, description, crs, memoryMb }: FormTask,
  form: keyof typeof DRIVERS,
  file: string,
  written: Written,
  lacksSome: boolean,
  appends: boolean,
) {
  const { name, layer, types } = written
  const fields = fieldsOf(description).filter(({ layers }) => layer === null || layers.includes(layer))
  const target = /\/EPSG\/0\/(\d+)$/.exec(crs.uri)?.[1] ?? '4326'
  const { prefix } = confinement(memoryMb)
  const [command = 'ogr2ogr', ...args] = [
    ...prefix,
    'ogr2ogr',
    ...['-f', DRIVERS[form], ...(appends ? ['-update'] : []), file, index],
    // Only the index's own dialect tells the type of a geometry.
    ...['-oo', 'IMMUTABLE=YES', ...(types === null ? ['-dialect', 'SQLITE'] : [])],
    ...['-sql', select(fields, written, lacksSome), '-nln', safeName(name)],
    ...['-s_srs', 'EPSG:4326', '-t_srs', `EPSG:${target}`, ...(form === 'gpkg' ? ['-nlt', 'GEOMETRY'] : [])],
    ...(form === 'zip' ? ['-lco', 'ENCODING=UTF-8', '-skipfailures'] : []),
  ]
  const env = {
    ...BARE_ENVIRONMENT,
    ...GDAL_CONFIGURATION,
    OGR_CT_FORCE_TRADITIONAL_GIS_ORDER: 'YES',
    OGR_SQLITE_SYNCHRONOUS: 'OFF',
  }
  const outcome = await runToEnd({ command, args, env, descriptors: [], idleSeconds: IDLE_SECONDS })
  if (/no space left|disk is full|disk full/i.test(outcome.stderr))
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  if (outcome.code !== 0) throw new VectorFault(coded('vector_conversion_said', { words: reasonOf(outcome.stderr) }))
}

/** Selects the fields in the order and under the names of the source. */
function select(fields: readonly IndexField[], { layer, types, withRest }: Written, lacksSome: boolean): string {
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`
  const columns = fields.map(({ column, name }) => `${quoted(column)} AS ${quoted(name)}`)
  const conditions = [
    ...(layer === null ? [] : [`layer = ${text(layer)}`]),
    ...(types === null
      ? []
      : [`(ST_GeometryType(geom) IN (${types.map(text).join(', ')})${withRest ? ' OR geom IS NULL' : ''})`]),
  ]
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  // The first geometry decides the type of a shapefile.
  const order = lacksSome ? 'geom IS NULL, fid' : 'fid'
  return `SELECT ${['geom', ...columns].join(', ')} FROM features${where} ORDER BY ${order}`
}

/** Converts the name of a layer to a file name of a shapefile. */
function safeName(name: string): string {
  return name.replaceAll(/[/\\\0]/g, '_').slice(0, 100)
}

function reasonOf(stderr: string): string {
  const line = stderr.split('\n').find((one) => one.startsWith('ERROR'))
  return (line ?? 'ogr2ogr failed').replaceAll(/\/\S*\//g, '').slice(0, 300)
}

function outcomeOf(error: unknown): ConversionOutcome {
  const { code, message } = error as NodeJS.ErrnoException
  if (isDiskFull(error) || /database or disk is full|no space left/i.test(message))
    return { made: false, why: 'no_space', message }
  // A missing program is not a fault of the vector.
  if (code === 'ENOENT' || /does not have\)?$/.test(message)) return { made: false, why: 'no_gdal', message }
  if (error instanceof VectorReplaced) return { made: false, why: 'replaced', message }
  return {
    made: false,
    why: error instanceof VectorFault ? 'fault' : 'failed',
    message,
  }
}

process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.once('message', async (conversion: Conversion) => {
  let outcome: ConversionOutcome = { made: true }
  try {
    await make(conversion)
  } catch (error) {
    outcome = outcomeOf(error)
    await rm(conversion.task.output, { recursive: true, force: true })
  }
  process.send?.(outcome, undefined, undefined, () => process.exit(0))
})
