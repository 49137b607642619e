import fs from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { VectorLayer } from '@gateway/contracts/basemap.js'
import { type NumberedTile, writeSortedPmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { DatabaseSync } from '@photostructure/sqlite'
import { INDEX_FILE, type IndexDescription, type IndexField } from '../index-file/index-description.js'
import { buildZoom, HEAD_BYTES, packerOf, type ZoomsTask, zoomFile } from './build-zoom.js'
import { FEATURE_FILE } from './feature-file.js'
import { worldX, worldY } from './grid.js'
import { chosenMaxZoom } from './max-zoom.js'
import { type Survey, survey } from './survey.js'
import type { FromZoomWorker } from './zoom-worker.js'

const TILES_FILE = 'tiles.pmtiles'

/** The built file, used even if the sources run (in tests). */
const WORKER = new URL('../../dist/tiles/zoom-worker.js', import.meta.url)

/** Number of features up to which one thread is as fast as two, since threads take time to start. */
const FEW_FEATURES = 5_000

/** Maximum number of threads. Each uses a whole core and its share of the memory. */
const MAX_THREADS = 4

/** Memory of a thread besides its records, in MB: features, values, the current tile. */
const THREAD_MB = 150

export interface TilesTask {
  /** the folder of index.gpkg, in which tiles.pmtiles is written */
  readonly folder: string
  readonly description: IndexDescription
  readonly name: string
  /** null: chosen by the density of the data */
  readonly minZoom: number | null
  readonly maxZoom: number | null
  /** attributes of tiles; null: all */
  readonly fields: readonly string[] | null
  readonly memoryMb: number
}

export interface BuiltTiles {
  readonly minZoom: number
  readonly maxZoom: number
  /** number of features that no tile of a zoom shows, by zoom, without zeros */
  readonly leftOut: Readonly<Record<string, number>>
  readonly vectorLayers: readonly VectorLayer[]
  readonly bytes: number
}

/** Writes the tiles of an index. Returns null if no feature has a geometry that a tile can show. */
export async function buildTiles(task: TilesTask, onStep: () => void = () => {}): Promise<BuiltTiles | null> {
  const { folder, description, memoryMb } = task
  const fields = description.fields.filter(({ name }) => task.fields === null || task.fields.includes(name))
  const layers = description.layers.map(({ id }) => id)
  const known = surveyed(folder, layers, fields)
  if (known.count === 0 || known.box === null) {
    fs.rmSync(join(folder, FEATURE_FILE))
    return null
  }
  const maxZoom = task.maxZoom ?? Math.max(chosenMaxZoom(known), task.minZoom ?? 0)
  const minZoom = Math.min(task.minZoom ?? 0, maxZoom)
  const threads = known.count <= FEW_FEATURES ? 1 : Math.min(MAX_THREADS, availableParallelism(), maxZoom - minZoom + 1)
  const shared = 40 * (known.last / 1e6) + THREAD_MB * threads
  const maxWords = Math.floor((Math.max(64, (memoryMb - shared) / (2 * threads)) * 1024 * 1024) / 4)
  const zoomsTask = { folder, layers, fields: fields.map(({ name }) => name), known, maxZoom, maxWords }
  // The deepest zooms take longest.
  const zooms = Array.from({ length: maxZoom - minZoom + 1 }, (_, i) => maxZoom - i)
  const leftOut = threads === 1 ? here(zoomsTask, zooms, onStep) : await inThreads(zoomsTask, zooms, threads, onStep)
  fs.rmSync(join(folder, FEATURE_FILE))
  const vectorLayers = layersOf(description, fields, minZoom, maxZoom)
  const bounds = description.bounds ?? [-180, -85, 180, 85]
  const written = await writeSortedPmtiles(
    join(folder, TILES_FILE),
    tilesOf(folder, zooms.reverse(), onStep),
    {
      format: 'pbf',
      encoding: 'gzip',
      bounds,
      metadata: { name: task.name, vector_layers: vectorLayers },
    },
    { expected: expectedTiles(known, maxZoom) },
  )
  return { minZoom, maxZoom, leftOut, vectorLayers, bytes: written.bytes }
}

function surveyed(folder: string, layers: readonly string[], fields: readonly IndexField[]): Survey {
  const db = new DatabaseSync(join(folder, INDEX_FILE), { readOnly: true })
  try {
    return survey(db, layers, fields, join(folder, FEATURE_FILE))
  } finally {
    db.close()
  }
}

type LeftOut = Record<string, number>

function here(task: ZoomsTask, zooms: readonly number[], onStep: () => void): LeftOut {
  const packer = packerOf(task)
  const counts = zooms.map((zoom) => [String(zoom), buildZoom(task, packer, zoom, onStep)] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0).reverse())
}

/** Rejects with the error of the first failing thread, and ends the others. */
async function inThreads(
  task: ZoomsTask,
  zooms: readonly number[],
  threads: number,
  onStep: () => void,
): Promise<LeftOut> {
  const leftOut: LeftOut = {}
  const waiting = [...zooms]
  const workers = Array.from({ length: threads }, () => new Worker(WORKER, { workerData: task }))
  const work = (worker: Worker) =>
    new Promise<void>((resolve, reject) => {
      const next = () => {
        const zoom = waiting.shift()
        if (zoom === undefined) resolve()
        else worker.postMessage(zoom)
      }
      worker.on('message', (message: FromZoomWorker) => {
        onStep()
        if (!('zoom' in message)) return
        if (message.leftOut > 0) leftOut[String(message.zoom)] = message.leftOut
        next()
      })
      worker.once('error', reject)
      worker.once('exit', (code) => reject(new Error(`a thread of the build ended with ${code}`)))
      next()
    })
  try {
    await Promise.all(workers.map(work))
    return leftOut
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

/** Number of bytes read at a time. */
const READ_BYTES = 1024 * 1024

/** Yields all tiles in the order of their ids, equal neighbours as one run. */
function* tilesOf(folder: string, zooms: readonly number[], onStep: () => void): Generator<NumberedTile> {
  for (const zoom of zooms) {
    const file = zoomFile(folder, zoom)
    const fd = fs.openSync(file, 'r')
    fs.unlinkSync(file)
    try {
      let held = Buffer.alloc(0)
      const take = (count: number) => {
        if (held.length < count) {
          const more = Buffer.allocUnsafe(Math.max(count, READ_BYTES))
          held = Buffer.concat([held, more.subarray(0, fs.readSync(fd, more, 0, more.length, null))])
        }
        const taken = held.subarray(0, count)
        held = held.subarray(taken.length)
        return taken
      }
      for (let head = take(HEAD_BYTES); head.length > 0; head = take(HEAD_BYTES)) {
        const [tileId, runLength] = [head.readDoubleLE(0), head.readUInt32LE(12)]
        const tile = { tileId, runLength, data: take(head.readUInt32LE(8)) }
        onStep()
        yield tile
      }
    } finally {
      fs.closeSync(fd)
    }
  }
}

/** Returns the maximum number of tiles; the size of leaf directories depends on it. */
function expectedTiles({ box }: Survey, maxZoom: number): number {
  const [west, south, east, north] = box ?? [-180, -85, 180, 85]
  let tiles = 0
  for (let zoom = 0; zoom <= maxZoom; zoom++) {
    const side = 2 ** zoom
    const columns = Math.min(side, Math.ceil((worldX(east) - worldX(west)) * side) + 2)
    const rows = Math.min(side, Math.ceil((worldY(south) - worldY(north)) * side) + 2)
    tiles += columns * rows
  }
  return tiles
}

const FIELD_TYPES: Readonly<Record<IndexField['type'], string>> = {
  string: 'String',
  number: 'Number',
  integer: 'Number',
  boolean: 'Boolean',
  date: 'String',
  datetime: 'String',
  json: 'String',
}

function layersOf(
  { layers }: IndexDescription,
  fields: readonly IndexField[],
  minzoom: number,
  maxzoom: number,
): VectorLayer[] {
  return layers
    .filter((layer) => layer.geometry_type !== null)
    .map(({ id }) => ({
      id,
      fields: Object.fromEntries(
        fields.filter((field) => field.layers.includes(id)).map(({ name, type }) => [name, FIELD_TYPES[type]]),
      ),
      minzoom,
      maxzoom,
    }))
}
