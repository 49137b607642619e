import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import { cleanText } from '@gateway/contracts/storable-text.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { forwardOf } from '../formats/crs.js'
import type { SourceFeature, SourceLayer, StreamedLayer } from '../formats/feature.js'
import { asFault, openVector, type VectorSource } from '../formats/open-vector.js'
import { openTable, type TableSource } from '../postgis/open-table.js'
import { FeatureWriter, type PlacedLayer } from './feature-writer.js'
import type { Forward } from './geometry-blob.js'
import { giveIds } from './give-ids.js'
import {
  DESCRIPTION_FILE,
  INDEX_FILE,
  type IndexDescription,
  type IndexField,
  type IndexLayer,
} from './index-description.js'
import { createTables, finishTables, writeFoldedTexts } from './index-tables.js'
import { definitionOf, storageDefinitionOf } from './storage-definition.js'
import { VectorFault } from './vector-fault.js'

export interface IndexTask {
  readonly source: VectorSource
  /** a table that is copied; absent: the source is a file */
  readonly database?: TableSource | undefined
  readonly kind: VectorKind
  /** of the content that is indexed, as the scan has it; null: the file is a copy that nobody replaces */
  readonly fingerprint: string | null
  /** of the texts, as an operator or the scan has found it; null: what its files say */
  readonly encoding: string | null
  /** name of the only layer of a file */
  readonly code: string
  /** the coordinate system of the source, as named in the catalog; null: unknown */
  readonly crs: string | null
  /** a dedicated folder, in which index.gpkg and index.json are written */
  readonly output: string
  readonly limits: {
    /** memory of GDAL's tools */
    readonly memoryMb: number
  }
}

type Layer = SourceLayer | StreamedLayer

/** Maximum number of layers of one source. */
const MAX_LAYERS = 500

/** Limit: attributes of all layers; SQLite's tables have at most 2,000 columns. */
const MAX_FIELDS = 1_900

/** Features between two signs of progress. */
const STEP = 1_000

/** Writes the index of a vector: all its features in one GeoPackage table. Throws VectorFault for faults of the vector. */
export async function buildIndex(task: IndexTask, onStep: () => void = () => {}): Promise<IndexDescription> {
  const scratch = join(task.output, '.source')
  const file = join(task.output, INDEX_FILE)
  await rm(scratch, { recursive: true, force: true })
  await rm(file, { force: true })
  await mkdir(scratch, { recursive: true })
  try {
    const vector =
      task.database === undefined
        ? await openVector({ ...task, scratch, progress: onStep })
        : openTable(task.database, task.code)
    try {
      const layers = await placed(vector.layers, task.code)
      const written = await fill(file, layers, task, onStep)
      vector.assertUnchanged()
      const storage = task.crs ?? commonCrs(vector.layers)
      const description = {
        ...written,
        storage_crs: storage,
        storage_definition: await storageDefinitionOf(storage),
      }
      await writeFile(join(task.output, DESCRIPTION_FILE), JSON.stringify(description))
      return description
    } finally {
      vector.close()
    }
  } catch (error) {
    await rm(file, { force: true })
    throw asFault(error)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function placed(layers: readonly Layer[], code: string): Promise<PlacedLayer[]> {
  if (layers.length === 0) throw new VectorFault(coded('vector_no_layer'))
  if (layers.length > MAX_LAYERS) throw new VectorFault(coded('vector_many_layers', { limit: MAX_LAYERS }))
  const ids = unique(layers.length === 1 ? [code] : layers.map(({ name }) => cleanText(name)))
  const all: PlacedLayer[] = []
  for (const [i, source] of layers.entries()) {
    const names = unique(source.fields.map(({ name }) => cleanText(name)))
    all.push({ id: ids[i] as string, source, forward: await forwardFor(source), names })
  }
  return all
}

/** Coordinates without a system must be degrees, which is checked when they are written. */
async function forwardFor({ crs }: Layer): Promise<Forward | null> {
  if (crs === null) return null
  if (crs.isLocal === true) throw new VectorFault(coded('vector_local_crs', { name: crs.name }))
  const known = forwardOf(crs)
  const forward = known === undefined ? forwardOf({ ...crs, definition: await definitionOf(crs.name) }) : known
  if (forward !== undefined) return forward
  throw new VectorFault(coded('vector_unknown_crs', { name: crs.name }))
}

/** Returns names of which none occurs twice. */
function unique(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`
    taken.add(free)
    return free
  })
}

function commonCrs(layers: readonly Layer[]): string | null {
  const names = new Set(layers.map(({ crs }) => crs?.name ?? null))
  return names.size === 1 ? ([...names][0] as string | null) : null
}

async function fill(
  file: string,
  layers: readonly PlacedLayer[],
  task: IndexTask,
  onStep: () => void,
): Promise<IndexDescription> {
  const fields = fieldsOf(layers)
  if (fields.length > MAX_FIELDS) throw new VectorFault(coded('vector_many_fields', { limit: MAX_FIELDS }))
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 8192; PRAGMA cache_size = -64000')
    db.exec('BEGIN')
    createTables(db, fields)
    const writer = new FeatureWriter(
      db,
      fields,
      layers.map(({ id }) => id),
    )
    const written: IndexLayer[] = []
    for (const layer of layers) written.push(await fillLayer(writer, layer, onStep))
    writer.flush()
    const changed = giveIds(db, writer.owners)
    writer.rewrite(changed)
    writeFoldedTexts(
      db,
      fields.filter((field) => field.type === 'string' && !writer.isFoldedByAscii(field)),
    )
    finishTables(db)
    db.exec('COMMIT')
    assertWhole(db, writer)
    const kinds = new Set(written.map((layer) => layer.geometry_type).filter((kind) => kind !== null))
    return {
      version: 1,
      storage_crs: task.crs,
      bounds: writer.bounds,
      feature_count: writer.count,
      geometry_type: kinds.size === 0 ? null : kinds.size === 1 ? ([...kinds][0] as string) : 'Geometry',
      has_z: writer.hasZ,
      layers: written,
      fields: fields.map((field) => ({ ...field, ascii_folding: writer.isFoldedByAscii(field) })),
      texts: writer.texts,
      ...(writer.damaged.count > 0 && { damaged: writer.damaged }),
    }
  } finally {
    db.close()
  }
}

async function fillLayer(writer: FeatureWriter, layer: PlacedLayer, onStep: () => void): Promise<IndexLayer> {
  const { source, id } = layer
  const own = writer.begin(layer)
  const add = (feature: SourceFeature) => {
    own.add(feature)
    if (own.count % STEP === 0) onStep()
  }
  const features = source.features()
  // Features of a file come without promises, which would take a tenth of the time.
  if (Symbol.asyncIterator in features) for await (const feature of features) add(feature)
  else for (const feature of features) add(feature)
  if (source.count !== null && own.count < source.count)
    throw new VectorFault(coded('vector_fewer', { count: own.count, expected: source.count, layer: id }))
  own.assertPlaced()
  return { id, name: source.name, geometry_type: own.geometryType, feature_count: own.count }
}

/** Compares what the file has with what was read. */
function assertWhole(db: DatabaseSyncInstance, writer: FeatureWriter): void {
  const has = db
    .prepare(
      'SELECT (SELECT count(*) FROM feature_texts) AS features, (SELECT count(*) FROM rtree_features_geom_rowid) AS places',
    )
    .get() as { features: number; places: number }
  if (has.features !== writer.count || has.places !== writer.placed)
    throw new Error(
      `the index has ${has.features} features at ${has.places} places instead of ${writer.count} at ${writer.placed}`,
    )
}

/** Merges fields of several layers that have the same name and type. */
function fieldsOf(layers: readonly PlacedLayer[]): IndexField[] {
  const fields: IndexField[] = []
  const known = new Map<string, IndexField>()
  const taken = new Set(['fid', 'geom', 'layer', 'feature_id', 'rowid', 'oid', '_rowid_'])
  // Responses may show a field by its column: no other field has such a name.
  const spelled = new Set(layers.flatMap(({ names }) => names.map((name) => name.toLowerCase())))
  for (const { id, source, names } of layers) {
    for (const [i, { type }] of source.fields.entries()) {
      const name = names[i] as string
      const same = known.get(`${type} ${name}`)
      if (same !== undefined) {
        same.layers.push(id)
        continue
      }
      let column = name
      const isTaken = () => taken.has(column.toLowerCase()) || (column !== name && spelled.has(column.toLowerCase()))
      for (let n = 2; isTaken(); n++) column = `${name}_${n}`
      taken.add(column.toLowerCase())
      const field = { name, column, type, layers: [id] }
      known.set(`${type} ${name}`, field)
      fields.push(field)
    }
  }
  return fields
}
