import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { GDAL_CONFIGURATION } from '@gateway/contracts/tiling/gdal-configuration.js'
import { BARE_ENVIRONMENT, confinement } from '@gateway/core/processes/confinement.js'
import { type Outcome, runToEnd } from '@gateway/core/processes/run-to-end.js'
import { fromFdPromise } from 'yauzl'
import { VectorFault } from '../index-file/vector-fault.js'
import { GEODATABASE, isOfMac } from './unpack-shapefiles.js'

/** The kinds that only GDAL reads. */
export type GdalKind = 'gml' | 'gpx' | 'dxf' | 'zipped_geodatabase' | 'zipped_mapinfo'

interface GdalReader {
  /** in the order of preference */
  readonly drivers: readonly string[]
  /** by which the drivers recognize the file */
  readonly extension?: string
  /** matches a file in the folder of a zip that is opened, by its path */
  readonly inside?: RegExp
  /** of opening and converting */
  readonly options?: readonly string[]
  /** if not all layers are wanted */
  readonly layers?: readonly string[]
}

/** GDAL's drivers of each kind. */
const READERS: Readonly<Record<GdalKind, GdalReader>> = {
  // The points of routes and tracks would be further layers.
  gpx: { drivers: ['GPX'], layers: ['waypoints', 'routes', 'tracks'] },
  dxf: { drivers: ['DXF'] },
  // The ids of its features are in no column.
  zipped_geodatabase: {
    drivers: ['OpenFileGDB'],
    extension: 'gdb.zip',
    inside: GEODATABASE,
    options: ['-preserve_fid'],
  },
  // All tables of a folder are layers.
  zipped_mapinfo: { drivers: ['MapInfo File'], extension: 'zip', inside: /\.(?:tab|mif)$/i },
  // Numbers may be codes with zeros in front: the reader of the result finds the types.
  gml: {
    drivers: ['GML'],
    options: [
      '-oo',
      'DOWNLOAD_SCHEMA=NO',
      '-oo',
      'WRITE_GFS=NO',
      '-oo',
      'EXPOSE_GML_ID=YES',
      '--config',
      'GML_FIELDTYPES',
      'ALWAYS_STRING',
    ],
  },
}

/** Maximum time in seconds without any read or write of the tool. */
const IDLE_SECONDS = 3600
/** Limit: output of a run whose time is limited. */
const SHORT_OUTPUT_MB = 1024
/** Timeout in ms for the list of drivers. */
const FORMATS_MS = 20_000
/** Limit: characters of a reason. */
const MAX_REASON = 500

/** Column names that `convertByGdal` writes and that no source has. */
export const CONVERTED_ID = '__gateway_fid'
const CONVERTED_GEOMETRY = '__gateway_geom'

export interface GdalTask {
  readonly kind: GdalKind
  /** the open source */
  readonly fd: number
  /** an empty folder for this conversion only */
  readonly scratch: string
  readonly limits: GdalLimits
}

export interface GdalLimits {
  readonly memoryMb: number
  /** of processor time, and without any output; absent: an hour without any */
  readonly seconds?: number
}

/** The compiled file, used also if the sources run (in tests). */
const WASM = fileURLToPath(new URL('../../dist/formats/gdal-wasm.js', import.meta.url))
/** Memory in MiB that the WebAssembly build takes before it has read a feature. */
const WASM_BASE_MB = 768

/**
 * Converts a vector into a GeoPackage, with the coordinates, names and curves of the source: by ogr2ogr, or by GDAL's WebAssembly build if this
 * machine has none. Throws VectorFault.
 */
export async function convertByGdal(task: GdalTask): Promise<string> {
  const { kind, fd, scratch, limits } = task
  const output = join(scratch, 'converted.gpkg')
  const driver = nativeDriver(kind)
  const options = [
    ...['-f', 'GPKG', '-nlt', 'CONVERT_TO_LINEAR', '-gt', '65536', '-forceNullable'],
    ...['-lco', `FID=${CONVERTED_ID}`, '-lco', `GEOMETRY_NAME=${CONVERTED_GEOMETRY}`, '-lco', 'SPATIAL_INDEX=NO'],
    ...(READERS[kind].options ?? []),
  ]
  const { seconds } = limits
  const memoryMb = driver === undefined ? Math.max(limits.memoryMb, WASM_BASE_MB) : limits.memoryMb
  const time = seconds === undefined ? {} : { outputMb: SHORT_OUTPUT_MB, cpuSeconds: seconds }
  const words = driver === undefined ? await wasmCommand(task, options) : await nativeCommand(task, output, options)
  const [command = 'ogr2ogr', ...args] = [...confinement(memoryMb, time).prefix, ...words]
  const env = driver === undefined ? BARE_ENVIRONMENT : environment(driver)
  const outcome = await runToEnd({ command, args, env, descriptors: [fd], idleSeconds: seconds ?? IDLE_SECONDS })
  if (/no space left|disk is full/i.test(outcome.stderr)) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  if (!isWhole(outcome)) throw new VectorFault(reasonOf(outcome))
  return output
}

async function nativeCommand({ kind, fd, scratch }: GdalTask, output: string, options: readonly string[]) {
  const { extension = kind, layers = [], inside } = READERS[kind]
  const source = join(scratch, `source.${extension}`)
  fs.symlinkSync('/proc/self/fd/3', source)
  const opened = inside === undefined ? source : `/vsizip/${join(source, await folderIn(fd, inside))}`
  return ['ogr2ogr', ...options, output, opened, ...layers]
}

/** The WebAssembly build sees only files of the folder. */
async function wasmCommand({ kind, fd, scratch }: GdalTask, options: readonly string[]): Promise<string[]> {
  const { extension = kind, drivers, layers = [], inside } = READERS[kind]
  const name = `source.${extension}`
  await pipeline(fs.createReadStream('', { fd, start: 0, autoClose: false }), fs.createWriteStream(join(scratch, name)))
  const driver = drivers.at(-1) as string
  const opened = inside === undefined ? name : `vsizip:${join(name, await folderIn(fd, inside))}`
  return [process.execPath, WASM, scratch, opened, 'converted.gpkg', driver, ...options, ...layers]
}

/** Returns the folder of the first such file in a zip; the reader of the zip rejects names that lead out of it. */
async function folderIn(fd: number, wanted: RegExp): Promise<string> {
  const zip = await fromFdPromise(fs.openSync(`/proc/self/fd/${fd}`, 'r'), { autoClose: false }).catch(() => null)
  if (zip === null) throw new VectorFault(coded('vector_unreadable'))
  try {
    for await (const { fileName } of zip.eachEntry()) {
      if (wanted.test(fileName) && !isOfMac(fileName)) return fileName.slice(0, Math.max(0, fileName.lastIndexOf('/')))
    }
  } finally {
    zip.close()
  }
  throw new VectorFault(coded('vector_unreadable'))
}

/** GDAL 3.6 cannot write an infinite extent, when all features are there already. */
const EXTENT_ERROR = /UPDATE gpkg_contents SET min_x = .{0,200}\b(?:Inf|nan)\b/i

/** True if a run has written all features. */
function isWhole(outcome: Outcome): boolean {
  if (outcome.code === null || outcome.stopped !== null) return false
  const errors = outcome.stderr.split('\n').filter((line) => line.startsWith('ERROR'))
  return outcome.code === 0 || (errors.length > 0 && errors.every((line) => EXTENT_ERROR.test(line)))
}

let drivers: readonly string[] | null = null

/** Returns the names of the drivers for vectors; none without GDAL. Asks once for each process. */
function gdalDrivers(): readonly string[] {
  if (drivers === null) {
    const { status, stdout } = spawnSync('ogrinfo', ['--formats'], { env: BARE_ENVIRONMENT, timeout: FORMATS_MS })
    const text = status === 0 ? stdout.toString('utf8') : ''
    drivers = [...text.matchAll(/^ {2}(\S[^(\n]{0,40}?) -[a-z, ]{1,60}- \(/gm)].map((match) => match[1] as string)
  }
  return drivers
}

/** The system's driver of a kind; undefined if the WebAssembly build must read it. */
function nativeDriver(kind: GdalKind): string | undefined {
  return READERS[kind].drivers.find((driver) => gdalDrivers().includes(driver))
}

function environment(driver: string): Record<string, string> {
  return {
    ...BARE_ENVIRONMENT,
    ...GDAL_CONFIGURATION,
    // Prevents other drivers from opening a file with content of another format.
    OGR_SKIP: gdalDrivers()
      .filter((one) => ![driver, 'GPKG', 'Memory'].includes(one))
      .join(','),
    OGR_SQLITE_SYNCHRONOUS: 'OFF',
    GML_SKIP_RESOLVE_ELEMS: 'ALL',
  }
}

/** Removes the folders of the build from a line, since they mean nothing to its reader. */
function withoutFolders(line: string): string {
  const isOurs = (word: string) => /\/(?:source|converted)\./.test(word)
  return line
    .split(' ')
    .map((word) => (isOurs(word) ? word.slice(word.lastIndexOf('/') + 1) : word))
    .join(' ')
}

function reasonOf(outcome: Outcome): CodedMessage {
  if (outcome.stopped !== null) return coded('vector_conversion_stopped')
  if (/Unable to open datasource/.test(outcome.stderr)) return coded('vector_unreadable')
  const lines = outcome.stderr
    .split('\n')
    .map((line) => withoutFolders(line).trim())
    .filter((line) => line !== '' && !line.startsWith('Warning'))
  const said = lines.slice(0, 3).join(' ')
  if (said !== '') return coded('vector_conversion_said', { words: said.slice(0, MAX_REASON) })
  return outcome.code === null
    ? coded('vector_conversion_killed')
    : coded('vector_conversion_ended', { exit_code: outcome.code })
}
