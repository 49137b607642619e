import fs from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOfError } from '@gateway/contracts/messages.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import { lowerPriority, NICE } from '@gateway/core/processes/priority.js'
import { buildVector } from '../build.js'
import { writeFlatGeobuf } from '../forms/write-flatgeobuf.js'
import { writeGeopackage } from '../forms/write-geopackage.js'
import { writeShapefiles } from '../forms/write-shapefiles.js'
import { buildIndex } from '../index-file/build-index.js'
import { INDEX_FILE } from '../index-file/index-description.js'
import { VectorFault, VectorReplaced } from '../index-file/vector-fault.js'
import type { TableSource } from '../postgis/open-table.js'
import type { BuiltTiles } from '../tiles/build-tiles.js'
import type { Conversion, ConversionOutcome, FormTask } from './conversion.js'
import { everyItem } from './parameters.js'
import { OpenIndex } from './run-query.js'

/** Makes files out of a vector for the parent process: an index, also with its tiles, or a download in another format. */

/** Returns the tiles of a build. */
async function make(conversion: Conversion): Promise<BuiltTiles | null> {
  if (conversion.what === 'build') return buildVector(conversion.task, () => {})
  if (conversion.what === 'form') await makeForm(conversion.task)
  else await buildIndex(conversion.task)
  return null
}

async function makeForm(whole: FormTask): Promise<void> {
  await mkdir(dirname(whole.output), { recursive: true })
  const task = whole.database === undefined ? whole : await copied(whole, whole.database)
  if (task.form === 'geojson' || task.form === 'csv') writeItems(task, task.form)
  else if (task.form === 'gpkg') writeGeopackage(task)
  else if (task.form === 'zip') await writeShapefiles(task)
  // A feature without a geometry cannot be in the index of the file.
  else if (locatesAll(task.index)) writeFlatGeobuf(task)
  else writeItems(task, 'fgb')
}

/** Copies a table of a database into an index next to the output, which is removed with the scratch of the task. */
async function copied(task: FormTask, database: TableSource): Promise<FormTask> {
  const output = join(dirname(task.output), '.table')
  await mkdir(output)
  const { code, memoryMb } = task
  const source = { root: '', path: '' }
  const ofTable = {
    source,
    database,
    kind: 'postgis',
    fingerprint: null,
    encoding: null,
    code,
    crs: null,
    output,
  } as const
  const description = await buildIndex({ ...ofTable, limits: { memoryMb } })
  return { ...task, index: join(output, INDEX_FILE), description: { ...task.description, ...description } }
}

/** Writes the same as `.../items`, without a limit. */
function writeItems(
  { index, description, crs, isGuarded = false, output }: FormTask,
  format: 'geojson' | 'csv' | 'fgb',
): void {
  const opened = new OpenIndex(index)
  const fd = fs.openSync(output, 'wx')
  const write = (bytes: Uint8Array | string) => {
    const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    for (let done = 0; done < whole.length; ) done += fs.writeSync(fd, whole, done)
  }
  try {
    if (format === 'geojson') write('{"type":"FeatureCollection","features":[')
    const query = everyItem({ description, file: index }, { crs, isGuarded }, format)
    for (const chunk of opened.run(query)) write(chunk.bytes)
    if (format === 'geojson') write(']}\n')
  } finally {
    fs.closeSync(fd)
    opened.close()
  }
}

function locatesAll(index: string): boolean {
  const opened = new OpenIndex(index)
  try {
    return opened.locatesAll
  } finally {
    opened.close()
  }
}

function outcomeOf(error: unknown): ConversionOutcome {
  const { message } = error as Error
  const said = messageOfError(error)
  const failed = (why: Extract<ConversionOutcome, { made: false }>['why']) =>
    ({ made: false, why, message, said }) as const
  if (isDiskFull(error) || /(?:database or )?disk is full|no space left/i.test(message)) return failed('no_space')
  if (error instanceof VectorReplaced) return failed('replaced')
  return failed(error instanceof VectorFault ? 'fault' : 'failed')
}

lowerPriority(NICE.background)
// Only the user of the services reads what is made.
process.umask(0o077)
process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.once('message', async (conversion: Conversion) => {
  let outcome: ConversionOutcome
  try {
    outcome = { made: true, tiles: await make(conversion) }
  } catch (error) {
    outcome = outcomeOf(error)
    await rm(conversion.task.output, { recursive: true, force: true })
  }
  process.send?.(outcome, undefined, undefined, () => process.exit(0))
})
