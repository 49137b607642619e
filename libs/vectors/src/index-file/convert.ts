import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { CodedError, type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { GDAL_CONFIGURATION } from '@gateway/contracts/tiling/gdal-configuration.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { fileIdentity, openBelow } from '@gateway/core/files/open-below.js'
import { BARE_ENVIRONMENT, confinement } from '@gateway/core/processes/confinement.js'
import { type Outcome, runToEnd } from '@gateway/core/processes/run-to-end.js'
import { fingerprintOf, partsOf } from '../source-parts.js'

/** A fault of a vector, described for its operator. */
export class VectorFault extends CodedError {
  override readonly name: string = 'VectorFault'
}

/** The file is another one than the catalog knows: the next scan finds it. */
export class VectorReplaced extends VectorFault {
  override readonly name: string = 'VectorReplaced'

  constructor() {
    super(coded('vector_file_replaced'))
  }
}

/** GDAL's driver of each kind, the file extension that it requires, and further options. */
const READERS: Readonly<Record<VectorKind, { driver: string; extension: string; options?: readonly string[] }>> = {
  geojson: { driver: 'GeoJSON', extension: 'geojson' },
  shapefile: { driver: 'ESRI Shapefile', extension: 'shp' },
  geopackage: { driver: 'GPKG', extension: 'gpkg', options: ['-oo', 'IMMUTABLE=YES'] },
  flatgeobuf: { driver: 'FlatGeobuf', extension: 'fgb' },
  geojson_sequence: { driver: 'GeoJSONSeq', extension: 'geojsonl' },
  zipped_shapefile: { driver: 'ESRI Shapefile', extension: 'zip' },
  kml: { driver: 'LIBKML', extension: 'kml' },
  kmz: { driver: 'LIBKML', extension: 'kmz' },
  gml: { driver: 'GML', extension: 'gml' },
  csv: {
    driver: 'CSV',
    extension: 'csv',
    options: [
      ...['-oo', 'X_POSSIBLE_NAMES=lon,lng,long,longitude,经度,x,easting,point_x,coord_x,xcoord'],
      ...['-oo', 'Y_POSSIBLE_NAMES=lat,latitude,纬度,y,northing,point_y,coord_y,ycoord'],
      ...['-oo', 'GEOM_POSSIBLE_NAMES=wkt,wkt_geom,geom_wkt,the_geom,geometry,geom'],
      ...['-oo', 'AUTODETECT_TYPE=YES'],
    ],
  },
}

/** The parts of a shapefile that are read. */
const SIDECARS = ['shx', 'dbf', 'prj', 'cpg'] as const

/** Kinds whose feature ids come from the file. */
const NUMBERED: ReadonlySet<VectorKind> = new Set(['geojson', 'geojson_sequence', 'geopackage'])

/** Maximum time in seconds without any read or write of the tool. Reading the schema of 10 GB of GeoJSON is silent for minutes. */
const IDLE_SECONDS = 3600

/** The first descriptor after stdin, stdout and stderr. */
const FIRST_DESCRIPTOR = 3

/** Column names that `convert` writes and that no source has. */
export const CONVERTED_ID = '__gateway_fid'
export const CONVERTED_GEOMETRY = '__gateway_geom'

export interface VectorSource {
  /** the directory of its scan source; files outside are not read */
  readonly root: string
  /** an absolute path */
  readonly path: string
}

export interface Conversion {
  readonly source: VectorSource
  readonly kind: VectorKind
  /** of the content that is converted, as the scan has it; null: the file is a copy that nobody replaces */
  readonly fingerprint: string | null
  /** of a shapefile's texts; null: what its files say */
  readonly encoding: string | null
  /** an empty folder for this conversion only */
  readonly scratch: string
  readonly memoryMb: number
}

/** Converts a vector into a GeoPackage with a table for each layer, in longitude and latitude. Throws VectorFault for faults of the vector. */
export async function convert(conversion: Conversion): Promise<string> {
  const opened = await openParts(conversion)
  try {
    const output = join(conversion.scratch, 'converted.gpkg')
    if (!isScanned(conversion, opened)) throw new VectorReplaced()
    const before = opened.map(({ fd }) => stateOf(fd))
    const confined = confinement(conversion.memoryMb)
    const env = environment(conversion.kind)
    let last: Outcome | null = null
    for (let attempt = 0; !isWhole(last); attempt++) {
      const options = nextAttempt(conversion, attempt, last?.stderr ?? '')
      if (options === null) break
      fs.rmSync(output, { force: true })
      const [command = 'ogr2ogr', ...args] = [
        ...confined.prefix,
        'ogr2ogr',
        ...argumentsOf(conversion, output, options),
      ]
      last = await runToEnd({
        command,
        args,
        env,
        descriptors: opened.map(({ fd }) => fd),
        idleSeconds: IDLE_SECONDS,
      })
    }
    if (!isWhole(last)) throw new VectorFault(reasonOf(last))
    if (opened.some(({ fd }, i) => stateOf(fd) !== before[i])) throw new VectorReplaced()
    return output
  } finally {
    for (const { fd } of opened) fs.closeSync(fd)
  }
}

const NO_SPACE = /no space left|disk is full/i

/** Matches the error for a table with too many columns, whose names may fill all that is kept of the message. */
const TOO_WIDE = /sqlite3_exec\(CREATE TABLE|too many columns/i

/** GDAL 3.6 cannot write an infinite extent, when all features are there already. */
const EXTENT_ERROR = /UPDATE gpkg_contents SET min_x = .{0,200}\b(?:Inf|nan)\b/i

/** True if a run has written all features. */
function isWhole(outcome: Outcome | null): boolean {
  if (outcome === null || outcome.code === null || outcome.stopped !== null) return false
  const errors = outcome.stderr.split('\n').filter((line) => line.startsWith('ERROR'))
  return outcome.code === 0 || (errors.length > 0 && errors.every((line) => EXTENT_ERROR.test(line)))
}

/**
 * Returns the options of the next attempt, depending on the failure of the last one; null: no further attempt. A file that names no coordinate
 * system must be in degrees, which is checked later. Coordinates that cannot be transformed first fail the whole file; the next attempt leaves
 * them out, which is slow.
 */
function nextAttempt({ kind }: Conversion, attempt: number, said: string): readonly string[] | null {
  const numbered = NUMBERED.has(kind) ? ['-preserve_fid'] : []
  if (attempt === 0) return [...numbered, '-t_srs', 'EPSG:4326']
  if (NO_SPACE.test(said) || TOO_WIDE.test(said)) return null
  if (attempt === 1 && /source layer has no\s{1,9}coordinate system/i.test(said))
    return [...numbered, '-a_srs', 'EPSG:4326']
  if (attempt === 1 && numbered.length > 0 && /UNIQUE constraint/.test(said)) return ['-t_srs', 'EPSG:4326']
  return attempt < 2 ? ['-t_srs', 'EPSG:4326', '-skipfailures'] : null
}

function argumentsOf({ kind, encoding, scratch }: Conversion, output: string, options: readonly string[]): string[] {
  const { extension, options: more = [] } = READERS[kind]
  const file = join(scratch, `source.${extension}`)
  return [
    ...['-f', 'GPKG', output, kind === 'zipped_shapefile' ? `/vsizip/${file}` : file],
    ...['-nlt', 'GEOMETRY', '-nlt', 'CONVERT_TO_LINEAR', '-gt', '65536'],
    ...['-lco', `FID=${CONVERTED_ID}`, '-lco', `GEOMETRY_NAME=${CONVERTED_GEOMETRY}`, '-lco', 'SPATIAL_INDEX=NO'],
    ...(encoding !== null && (kind === 'shapefile' || kind === 'zipped_shapefile')
      ? ['-oo', `ENCODING=${encoding}`]
      : []),
    ...more,
    ...options,
  ]
}

/** Opens the file and its sidecars below the root, and gives each a name in the scratch folder through which the tool reads the descriptor. */
async function openParts({ source, kind, scratch }: Conversion): Promise<{ fd: number }[]> {
  const { extension } = READERS[kind]
  const parts: { fd: number }[] = []
  const add = async (path: string, name: string) => {
    const opened = await openBelow(source.root, path)
    if (!opened.ok) return false
    fs.symlinkSync(`/proc/self/fd/${FIRST_DESCRIPTOR + parts.length}`, join(scratch, `source.${name}`))
    parts.push({ fd: opened.fd })
    return true
  }
  try {
    if (!(await add(source.path, extension))) throw new VectorFault(coded('vector_file_gone'))
    if (kind !== 'shapefile') return parts
    const base = source.path.slice(0, -4)
    for (const sidecar of SIDECARS) {
      if (!(await add(`${base}.${sidecar}`, sidecar))) await add(`${base}.${sidecar.toUpperCase()}`, sidecar)
    }
    return parts
  } catch (error) {
    for (const { fd } of parts) fs.closeSync(fd)
    throw error
  }
}

/** True if the open file has the content that the scan found, so that a revision never mixes the features of two contents. */
function isScanned({ source, kind, fingerprint }: Conversion, opened: readonly { fd: number }[]): boolean {
  if (fingerprint === null) return true
  const parts = partsOf(source.path, kind)
  const identities = new Set(parts.map(({ identity }) => identity))
  const isPart = ({ fd }: { fd: number }) => identities.has(fileIdentity(fs.fstatSync(fd, { bigint: true })))
  return fingerprintOf(parts) === fingerprint && opened.every(isPart)
}

function stateOf(fd: number): string {
  const { ino, size, mtimeNs, ctimeNs } = fs.fstatSync(fd, { bigint: true })
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

let drivers: readonly string[] | null = null

/** Timeout in ms for the list of drivers. */
const FORMATS_MS = 20_000

function environment(kind: VectorKind): Record<string, string> {
  if (drivers === null) {
    const { status, stdout } = spawnSync('ogrinfo', ['--formats'], { env: BARE_ENVIRONMENT, timeout: FORMATS_MS })
    if (status !== 0) throw new VectorFault(coded('vector_no_gdal'))
    drivers = [...stdout.toString('utf8').matchAll(/^ {2}(\S[^(\n]{0,40}?) -[a-z, ]{1,60}- \(/gm)].map(
      (match) => match[1]!,
    )
  }
  const { driver } = READERS[kind]
  const used = [driver, 'GPKG', 'Memory']
  return {
    ...BARE_ENVIRONMENT,
    ...GDAL_CONFIGURATION,
    // The scratch folder contains only the parts of this vector.
    GDAL_DISABLE_READDIR_ON_OPEN: 'FALSE',
    // Prevents other drivers from opening a file with content of another format.
    OGR_SKIP: drivers.filter((one) => !used.includes(one)).join(','),
    OGR_SQLITE_SYNCHRONOUS: 'OFF',
    OGR_CT_FORCE_TRADITIONAL_GIS_ORDER: 'YES',
  }
}

/** Limit: attributes of all layers; SQLite's tables have at most 2,000 columns. */
export const MAX_FIELDS = 1_900
export const TOO_MANY_FIELDS = coded('vector_many_fields', { limit: MAX_FIELDS })

/** Limit: characters of a reason. */
const MAX_REASON = 500

/** Removes the folders of the build from a line, since they mean nothing to its reader. */
function withoutFolders(line: string): string {
  const isOurs = (word: string) => /\/(?:source|converted)\./.test(word)
  return line
    .split(' ')
    .map((word) => (isOurs(word) ? word.slice(word.lastIndexOf('/') + 1) : word))
    .join(' ')
}

function reasonOf(outcome: Outcome | null): CodedMessage {
  if (outcome === null || outcome.stopped !== null) return coded('vector_conversion_stopped')
  if (TOO_WIDE.test(outcome.stderr) && !NO_SPACE.test(outcome.stderr)) return TOO_MANY_FIELDS
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
