import { statSync } from 'node:fs'
import { CodedError, type CodedMessage, coded, codeOfSentence, type MessageCode } from '@gateway/contracts/messages.js'
import type { ReadFacts, VectorKind } from '@gateway/contracts/vector.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { flatgeobufFacts } from '@gateway/vectors/formats/flatgeobuf.js'
import { geojsonFacts } from '@gateway/vectors/formats/geojson.js'
import { HOLDS_TILES } from '@gateway/vectors/formats/geopackage.js'
import { MAX_GDAL_BYTES } from '@gateway/vectors/formats/limits.js'
import { shapefileFacts } from '@gateway/vectors/formats/shapefile.js'
import { RUN_SECONDS, type WholeKind, wholeFacts } from '@gateway/vectors/formats/whole-facts.js'
import { zipContent } from '@gateway/vectors/formats/zipped-shapefile.js'
import { examineGeojson } from '../../probe/geojson.js'
import { quoted } from './found.js'
import { whyNotRead } from './probe-candidate.js'
import type { ToRead, VectorWalk } from './vector-walk.js'
import { warnIn } from './walked-source.js'

/** `facts` null: not readable now, so the next scan tries again. A file whose content does not match its name is skipped, with a warning. */
export type VectorRead = { readonly kind: VectorKind; readonly facts: ReadFacts | null } | 'left out'

/** A walk is cancelled by killing its process, which includes the prober. */
const NEVER = new AbortController().signal

export async function readVector(walk: VectorWalk, toRead: ToRead): Promise<VectorRead> {
  const { source } = walk
  const { entry, kind, relativePath, parts } = toRead
  source.progress()
  switch (kind) {
    case 'geojson':
    case 'geojson_sequence':
      return readGeojson(walk, toRead, kind === 'geojson_sequence')
    case 'shapefile':
      return { kind, facts: shapefileFacts(source.root, entry.path, parts) }
    case 'geopackage':
      return readGeopackage(walk, toRead)
    case 'zipped_shapefile':
      return readZip(walk, toRead)
    case 'flatgeobuf':
      try {
        const facts = flatgeobufFacts(source.root, entry.path)
        return facts === null ? 'left out' : { kind, facts }
      } catch (error) {
        if (!(error instanceof BrokenArchiveError)) throw error
        warnIn(source, leftOut(quoted(relativePath), error.message))
        return 'left out'
      }
    case 'postgis':
    case 'postgis-function':
      return 'left out'
    default:
      return readWhole(walk, toRead, kind)
  }
}

function readGeojson(
  { source, skipped }: VectorWalk,
  { entry, relativePath }: ToRead,
  isSequence: boolean,
): VectorRead {
  const finding = examineGeojson(source.root, entry.path, isSequence)
  const isPlainJson = /\.json$/i.test(entry.name)
  if (finding === 'cut off') warnIn(source, coded('scan_cut_off', { file: quoted(relativePath) }))
  else if (finding === 'topojson') skipped.add(relativePath, { code: 'scan_vector_to_convert', format: 'TopoJSON' })
  // Many .json files are not GeoJSON. A .geojson file that is not GeoJSON is a mistake.
  else if (finding === 'something else' && !isPlainJson)
    warnIn(source, coded('scan_no_geojson', { file: quoted(relativePath) }))
  if (finding !== 'geojson') return 'left out'
  const read = geojsonFacts(source.root, entry.path, source.progress, { isSequence })
  if (!read.isSequence || isSequence) return { kind: isSequence ? 'geojson_sequence' : 'geojson', facts: read.facts }
  const warnings = [coded('scan_sequence_named_geojson'), ...(read.facts.warnings ?? [])]
  return { kind: 'geojson_sequence', facts: { ...read.facts, warnings } }
}

async function readGeopackage(
  { source, prober, skipped }: VectorWalk,
  { entry, relativePath, kind }: ToRead,
): Promise<VectorRead> {
  const where = quoted(relativePath)
  const result = await prober.probeGeopackage(source.root, entry.path, NEVER).catch((error: Error) => {
    throw new CodedError(coded('scan_disk_error', { file: where, words: error.message }), { cause: error })
  })
  switch (result.state) {
    case 'ok':
      if (hasUnwritten(entry.path)) warnIn(source, coded('scan_open_elsewhere', { file: where }))
      return { kind, facts: result.probe }
    case 'broken':
      if (result.why === HOLDS_TILES)
        skipped.add(relativePath, { code: 'scan_raster_geopackage', format: 'GeoPackage' })
      else warnIn(source, leftOut(where, result.why))
      return 'left out'
    case 'empty':
      return 'left out'
    default:
      warnIn(source, coded('scan_tells_nothing', { file: where, reason: codeOfSentence(whyNotRead(result)) }))
      return { kind, facts: null }
  }
}

function leftOut(file: string, why: string): CodedMessage {
  return coded('scan_left_out', { file, reason: codeOfSentence(why) })
}

/** True if SQLite's write-ahead log has content, which reaches the file itself when the writing program ends. */
function hasUnwritten(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

const OF_ZIPS: Readonly<Record<'tiles' | 'vectors' | 'other', MessageCode>> = {
  tiles: 'scan_zip_of_tiles',
  vectors: 'scan_zip_of_vectors',
  other: 'scan_archive',
}

async function readZip(walk: VectorWalk, toRead: ToRead): Promise<VectorRead> {
  const { source, skipped } = walk
  const { entry, relativePath, kind } = toRead
  try {
    const content = await zipContent(source.root, entry.path)
    if (content?.is === 'shapefiles') return { kind, facts: content.facts }
    if (content?.is === 'geodatabase') return readWhole(walk, toRead, 'zipped_geodatabase')
    if (content?.is === 'mapinfo') return readWhole(walk, toRead, 'zipped_mapinfo')
    if (content !== null) skipped.add(relativePath, { code: OF_ZIPS[content.is], format: 'zip' })
  } catch (error) {
    if (!(error instanceof BrokenArchiveError)) throw error
    skipped.add(relativePath, { code: 'scan_broken_archive', format: 'zip' }, error.message)
  }
  return 'left out'
}

/** The names of formats whose kind does not spell them. */
const FORMATS: Partial<Readonly<Record<WholeKind, string>>> = {
  zipped_geodatabase: 'File Geodatabase',
  zipped_mapinfo: 'MapInfo',
}

async function readWhole(walk: VectorWalk, { entry, relativePath }: ToRead, kind: WholeKind): Promise<VectorRead> {
  const { source, skipped, scratch } = walk
  const file = quoted(relativePath)
  const format = FORMATS[kind] ?? kind.toUpperCase()
  const read = await wholeFacts({ root: source.root, path: entry.path }, kind, scratch, source.progress)
  switch (read.state) {
    case 'ok':
      return { kind, facts: read.facts }
    case 'too large':
      warnIn(source, coded('scan_too_large', { file, limit: MAX_GDAL_BYTES / 1024 ** 2 }))
      return { kind, facts: null }
    case 'no coordinates':
      skipped.add(relativePath, { code: 'scan_csv_without_coordinates', format })
      return 'left out'
    case 'no features':
      warnIn(source, coded('scan_no_features', { file }))
      return 'left out'
    case 'broken':
      warnIn(source, coded('scan_unreadable_by_gdal', { file, format, reason: read.why }))
      return 'left out'
    case 'late':
      warnIn(source, coded('scan_late', { file, seconds: RUN_SECONDS }))
      return 'left out'
    case 'gone':
      return 'left out'
  }
}
