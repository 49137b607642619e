import { closeSync, createReadStream, createWriteStream, mkdtempSync, readSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { UNKNOWN_FACTS, type VectorKind } from '@gateway/contracts/vector.js'
import { type OpenedFile, openBelowSync } from '@gateway/core/files/open-below.js'
import { runToEnd } from '@gateway/core/processes/run-to-end.js'
import type { ReadFacts } from '@gateway/store/vectors.js'
import type { GeopackageProbeResult } from '../../probe/probe-result.js'
import { type CsvGeometry, csvGeometry } from '../csv-head.js'
import { MAX_GDAL_BYTES } from '../limits.js'
import { type Ogr, RUN_SECONDS } from './tools.js'
import { zipIsSmall } from './zip-size.js'

export type GdalKind = Extract<VectorKind, 'kml' | 'kmz' | 'gml' | 'csv'>

/** Drivers that read each kind, in order of preference, and a pattern for the beginning of a file. */
const READERS: Readonly<Record<GdalKind, { readonly drivers: readonly string[]; readonly begins: RegExp }>> = {
  kml: { drivers: ['LIBKML', 'KML'], begins: /<(?:\w+:)?kml[\s>]/ },
  kmz: { drivers: ['LIBKML'], begins: /^PK/ },
  gml: { drivers: ['GML'], begins: /^\s*(?:\xef\xbb\xbf)?<[\s\S]*opengis\.net\/gml/ },
  csv: { drivers: ['CSV'], begins: /[,;\t|]/ },
}

export type ReadByGdal =
  | { readonly state: 'ok'; readonly facts: ReadFacts }
  | { readonly state: 'no coordinates' | 'no features' | 'too large' | 'late' | 'gone' | 'no driver' }
  | { readonly state: 'broken'; readonly why: string }

/** The working directory of GDAL, and the reader of its output. */
export interface GdalPlace {
  readonly ogr: Ogr
  /** directory for temporary files */
  readonly scratch: string
  readonly readGeopackage: (root: string, path: string) => Promise<GeopackageProbeResult>
}

const HEAD_BYTES = 64 * 1024

/**
 * Reads a file by GDAL: a confined process, limited to a minute, converts it to a GeoPackage, whose facts are returned. GDAL receives an open file
 * under a name of our choice, in a folder without other files, so neither the name nor a neighbour of the file can lead it elsewhere. Throws the
 * disk's errors.
 */
export async function readByGdal(place: GdalPlace, root: string, path: string, kind: GdalKind): Promise<ReadByGdal> {
  const driver = READERS[kind].drivers.find((name) => place.ogr.drivers.includes(name))
  if (driver === undefined) return { state: 'no driver' }
  const opened = openBelowSync(root, path)
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error(`this process may not read ${path}`)
    return { state: 'gone' }
  }
  try {
    return await readOpened(place, opened, kind, driver)
  } finally {
    closeSync(opened.fd)
  }
}

async function readOpened(
  place: GdalPlace,
  { fd, size }: OpenedFile,
  kind: GdalKind,
  driver: string,
): Promise<ReadByGdal> {
  const head = Buffer.alloc(Math.min(HEAD_BYTES, size))
  readSync(fd, head, 0, head.length, 0)
  const csv = kind === 'csv' ? csvGeometry(head) : null
  if (kind === 'csv' && csv === null) return { state: 'no coordinates' }
  if (size > MAX_GDAL_BYTES) return { state: 'too large' }
  if (!READERS[kind].begins.test(head.toString('latin1')))
    return { state: 'broken', why: 'its content is something else' }
  if (kind === 'kmz' && !(await zipIsSmall(fd, MAX_GDAL_BYTES))) return { state: 'too large' }
  const folder = mkdtempSync(join(place.scratch, 'gdal-'))
  try {
    const source = join(folder, `source.${kind}`)
    if (csv?.encoding === 'GBK') await transcode(fd, source)
    else symlinkSync('/proc/self/fd/3', source)
    const target = join(folder, 'facts.gpkg')
    const why = await convert(place.ogr, {
      fd,
      driver,
      source,
      target,
      options: csv === null ? optionsOf(kind) : csvOptions(csv),
    })
    if (why === LATE) return { state: 'late' }
    if (why !== null) return { state: 'broken', why }
    const read = await place.readGeopackage(folder, target)
    if (read.state !== 'ok') return { state: 'no features' }
    const { feature_count: count } = read.probe
    if (count === 0) return { state: 'no features' }
    return { state: 'ok', facts: { ...UNKNOWN_FACTS, ...read.probe, ...encodingOf(kind, csv) } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** GDAL reads XML by the encoding that the file names. */
function encodingOf(kind: GdalKind, csv: CsvGeometry | null): Pick<ReadFacts, 'encoding' | 'encoding_source'> {
  if (kind === 'csv') return { encoding: csv?.encoding ?? null, encoding_source: null }
  return { encoding: null, encoding_source: null }
}

function optionsOf(kind: GdalKind): string[] {
  return kind === 'gml' ? ['-oo', 'DOWNLOAD_SCHEMA=NO', '-oo', 'WRITE_GFS=NO'] : []
}

function csvOptions({ columns, isGeographic }: CsvGeometry): string[] {
  const geometry =
    'wkt' in columns
      ? ['-oo', `GEOM_POSSIBLE_NAMES=${columns.wkt}`]
      : ['-oo', `X_POSSIBLE_NAMES=${columns.x}`, '-oo', `Y_POSSIBLE_NAMES=${columns.y}`]
  return [...geometry, '-oo', 'AUTODETECT_TYPE=YES', ...(isGeographic ? ['-a_srs', 'EPSG:4326'] : [])]
}

interface Conversion {
  readonly fd: number
  readonly driver: string
  readonly source: string
  readonly target: string
  readonly options: readonly string[]
}

const LATE = 'late'

/** Returns null on success, otherwise the reason of the failure. */
async function convert(ogr: Ogr, { fd, driver, source, target, options }: Conversion): Promise<string | null> {
  const words = ['ogr2ogr', '-f', 'GPKG', '-lco', 'SPATIAL_INDEX=NO', ...options, target, source]
  const [command = '', ...args] = [...ogr.prefix, ...words]
  const { code, stderr, stopped } = await runToEnd({
    command,
    args,
    env: ogr.environment(driver),
    descriptors: [fd],
    idleSeconds: RUN_SECONDS,
  })
  if (stopped !== null) return LATE
  if (code === 0) return null
  const said = /^(?:ERROR \d+: |FAILURE:\s*)(.+)$/m.exec(stderr)?.[1] ?? 'it takes more memory or time than it may'
  // Our temporary names mean nothing to an operator.
  return plain(said.replaceAll(source, 'the file'))
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this removes control characters
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').slice(0, 200)
}

/** Converts a file to UTF-8, as which GDAL reads CSV. */
async function transcode(fd: number, target: string): Promise<void> {
  const decoder = new TextDecoder('gbk')
  async function* asUtf8(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) yield decoder.decode(piece, { stream: true })
  }
  await pipeline(createReadStream('', { fd, start: 0, autoClose: false }), asUtf8, createWriteStream(target))
}
