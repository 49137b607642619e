import fs from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { dirname } from 'node:path'
import { messageOfError } from '@gateway/contracts/messages.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import { buildVector } from '../build.js'
import { writeFlatGeobuf } from '../forms/write-flatgeobuf.js'
import { writeGeopackage } from '../forms/write-geopackage.js'
import { writeShapefiles } from '../forms/write-shapefiles.js'
import { buildIndex } from '../index-file/build-index.js'
import { VectorFault, VectorReplaced } from '../index-file/vector-fault.js'
import type { BuiltTiles } from '../tiles/build-tiles.js'
import type { Conversion, ConversionOutcome, FormTask } from './conversion.js'
import { DEFAULT_CRS } from './crs.js'
import type { ItemsQuery } from './items-query.js'
import { fieldsOf } from './parameters.js'
import { OpenIndex } from './run-query.js'

/** Makes files out of a vector for the parent process: an index, also with its tiles, or a download in another format. */

/** Nice value (10 of 19), so that requests come first when processors are short. */
const PRIORITY = 10

/** Returns the tiles of a build. */
async function make(conversion: Conversion): Promise<BuiltTiles | null> {
  if (conversion.what === 'build') return buildVector(conversion.task, () => {})
  if (conversion.what === 'form') await makeForm(conversion.task)
  else await buildIndex(conversion.task)
  return null
}

async function makeForm(task: FormTask): Promise<void> {
  await mkdir(dirname(task.output), { recursive: true })
  if (task.form === 'geojson' || task.form === 'csv') writeItems(task, task.form)
  else if (task.form === 'gpkg') writeGeopackage(task)
  else if (task.form === 'zip') await writeShapefiles(task)
  // A feature without a geometry cannot be in the index of the file.
  else if (locatesAll(task.index)) writeFlatGeobuf(task)
  else writeItems(task, 'fgb')
}

/** Writes the same as `.../items`, without a limit. */
function writeItems(
  { index, description, crs, isGuarded = false, output }: FormTask,
  format: 'geojson' | 'csv' | 'fgb',
): void {
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
      ...{
        index,
        fields,
        selected: fields,
        geometryType: description.geometry_type,
        hasZ: description.has_z ?? false,
        crs,
        format,
        texts,
      },
      isGuarded,
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

setPriority(PRIORITY)
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
