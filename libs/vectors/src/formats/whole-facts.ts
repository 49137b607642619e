import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { type GeometryType, NUMBERED_GEOMETRY_TYPES, type ReadFacts, UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { fromFdPromise } from 'yauzl'
import { type Blob, blobOf } from '../index-file/geometry-blob.js'
import type { GdalKind } from './convert-by-gdal.js'
import { forwardOf } from './crs.js'
import type { CsvGeometry } from './csv.js'
import { csvGeometry } from './csv-head.js'
import type { OpenVector, SourceLayer } from './feature.js'
import { catalogType } from './feature.js'
import { guessEncoding } from './guess-encoding.js'
import { factsOfLayers, geometryTypeOf, type Layer } from './layers.js'
import { MAX_GDAL_BYTES } from './limits.js'
import { openVector } from './open-vector.js'
import { encodingOfText, FALLBACK_ENCODING } from './text-pieces.js'

/** Kinds whose facts only a whole reading shows. */
export type WholeKind = GdalKind | 'kml' | 'kmz' | 'csv'

/** Patterns for the beginning of a file. */
const BEGINS: Readonly<Record<WholeKind, RegExp>> = {
  kml: /<(?:\w+:)?kml[\s>]/,
  kmz: /^PK/,
  gml: /^\s*(?:\xef\xbb\xbf)?<[\s\S]*opengis\.net\/gml/,
  csv: /[^\0]/,
  gpx: /<(?:\w+:)?gpx[\s>]/,
  // A group code in front of the first section, or the sentinel of the binary form.
  dxf: /^(?:AutoCAD Binary DXF|\s{0,8}(?:0|999)\s)/,
  zipped_geodatabase: /^PK/,
  zipped_mapinfo: /^PK/,
}

export type WholeReading =
  | { readonly state: 'ok'; readonly facts: ReadFacts }
  | { readonly state: 'no coordinates' | 'no features' | 'too large' | 'late' | 'gone' }
  | { readonly state: 'broken'; readonly why: string }

const HEAD_BYTES = 64 * 1024

/** Limits of GDAL in a scan: memory and output in MB, and time in seconds. */
const MEMORY_MB = 1024
export const RUN_SECONDS = 60

/** Maximum number of entries in a KMZ, which has a document and some images. */
const MAX_ENTRIES = 10_000

/**
 * Reads the facts of a CSV, KML or KMZ by its reader, and those of the other kinds by GDAL, from a confined process. Throws the disk's errors.
 *
 * @param scratch directory for temporary files
 */
export async function wholeFacts(
  source: { readonly root: string; readonly path: string },
  kind: WholeKind,
  scratch: string,
  progress: () => void,
): Promise<WholeReading> {
  const opened = openBelowSync(source.root, source.path)
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error(`this process may not read ${source.path}`)
    return { state: 'gone' }
  }
  let head: Buffer
  let csv: CsvGeometry | null = null
  try {
    const size = fstatSync(opened.fd).size
    head = Buffer.alloc(Math.min(HEAD_BYTES, size))
    readSync(opened.fd, head, 0, head.length, 0)
    if (kind === 'csv' && csvGeometry(head) === null) return { state: 'no coordinates' }
    if (size > MAX_GDAL_BYTES) return { state: 'too large' }
    if (kind === 'csv') csv = csvGeometry(head, encodingOfText({ fd: opened.fd, size }, progress))
    if (!BEGINS[kind].test(beginning(head))) return { state: 'broken', why: 'its content is something else' }
    if (
      (kind === 'kmz' || kind === 'zipped_geodatabase' || kind === 'zipped_mapinfo') &&
      !(await zipIsSmall(opened.fd, MAX_GDAL_BYTES))
    )
      return { state: 'too large' }
  } finally {
    closeSync(opened.fd)
  }
  const folder = mkdtempSync(join(scratch, 'facts-'))
  try {
    const limits = { memoryMb: MEMORY_MB, seconds: RUN_SECONDS }
    const vector = await openVector({
      source,
      kind,
      fingerprint: null,
      encoding: null,
      code: '',
      scratch: folder,
      limits,
      progress,
    })
    try {
      const facts = factsOf(vector)
      return facts.feature_count === 0
        ? { state: 'no features' }
        : {
            state: 'ok',
            facts: { ...UNKNOWN_FACTS, ...facts, ...(csv !== null && encodingFacts(csv)) },
          }
    } finally {
      vector.close()
    }
  } catch (error) {
    if (!(error instanceof CodedError)) throw error
    if (error.said.code === 'vector_conversion_stopped') return { state: 'late' }
    if (error.said.code === 'vector_no_layer') return { state: 'no features' }
    return { state: 'broken', why: plain(error.message) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the beginning of a text, or bytes as characters of ISO 8859-1. XML may be in UTF-16. */
function beginning(head: Buffer): string {
  const encoding = guessEncoding(head.subarray(0, 2))
  return encoding === 'UTF-16LE' || encoding === 'UTF-16BE'
    ? new TextDecoder(encoding).decode(head)
    : head.toString('latin1')
}

function encodingFacts({ encoding }: CsvGeometry): Partial<ReadFacts> {
  return encoding === null
    ? { encoding: FALLBACK_ENCODING, warnings: [coded('scan_json_encoding_unknown')] }
    : { encoding }
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this removes control characters
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').slice(0, 200)
}

function factsOf({ layers }: OpenVector) {
  return factsOfLayers(layers.map(layerFacts))
}

function layerFacts(layer: SourceLayer): Layer {
  const { crs, fields } = layer
  const forward = crs === null ? null : forwardOf(crs)
  const types = new Set<GeometryType>()
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  let count = 0
  let isOff = forward === undefined
  for (const { geometry } of layer.features()) {
    count++
    if (geometry === null) continue
    const blob: Blob | string = blobOf(geometry, forward ?? null)
    if (typeof blob === 'string') {
      isOff ||= crs === null && blob === 'off_earth'
      continue
    }
    types.add(NUMBERED_GEOMETRY_TYPES[blob.kind] as GeometryType)
    if (blob.box === null) continue
    west = Math.min(west, blob.box[0])
    south = Math.min(south, blob.box[1])
    east = Math.max(east, blob.box[2])
    north = Math.max(north, blob.box[3])
  }
  return {
    crs: crs?.name ?? null,
    bounds:
      isOff || crs === null || west > east
        ? null
        : [Math.max(-180, west), Math.max(-90, south), Math.min(180, east), Math.min(90, north)],
    geometryType: geometryTypeOf(types),
    count,
    fields: fields.map(({ name, type }) => ({ name, type: catalogType(type) })),
  }
}

/** True if the declared sizes of a zip's entries fit in `maxBytes` together. If they are too small, the limits of its reader apply. */
async function zipIsSmall(fd: number, maxBytes: number): Promise<boolean> {
  const own = openSync(`/proc/self/fd/${fd}`, 'r')
  const zip = await fromFdPromise(own, { autoClose: false }).catch(() => null)
  if (zip === null) return true
  let bytes = 0
  let entries = 0
  try {
    for await (const { uncompressedSize } of zip.eachEntry()) {
      bytes += uncompressedSize
      if (bytes > maxBytes || ++entries > MAX_ENTRIES) return false
    }
    return true
  } catch {
    // The reader of the zip reports what is wrong with it.
    return true
  } finally {
    zip.close()
  }
}
