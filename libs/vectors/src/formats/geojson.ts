import { closeSync, readSync } from 'node:fs'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import {
  GEOJSON_GEOMETRIES,
  type GeometryType,
  type ReadFacts,
  UNKNOWN_FACTS,
  type VectorFacts,
  type VectorField,
} from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { MAX_LATITUDE, MAX_LONGITUDE } from '../index-file/geometry-blob.js'
import { boundsInWgs84, type Crs, crsOfName, WGS84 } from './crs.js'
import { catalogType, DamagedFile, type FieldType, type SourceFeature, type SourceLayer } from './feature.js'
import { writeGeoJson } from './geojson-geometry.js'
import { type Guess, guessEncoding } from './guess-encoding.js'
import { splitJson, splitLines } from './json-splitter.js'
import { idOf, jsonValue, parseJson, seenIn, typeOfSeen } from './json-values.js'
import { geometryTypeOf } from './layers.js'
import { MAX_FIELDS, MAX_GEOJSON_BYTES, MAX_NAME } from './limits.js'
import { encodingOfText, FALLBACK_ENCODING, type TextFile, utf8Pieces } from './text-pieces.js'
import { WkbWriter } from './wkb-writer.js'

/** RFC 8259: the encoding of all exchanged JSON. */
const OF_ANY: VectorFacts = { ...UNKNOWN_FACTS, encoding: 'UTF-8', encoding_source: 'format' }
const HEAD_BYTES = 64 * 1024

export interface GeojsonContent {
  readonly facts: ReadFacts
  /** true if features follow each other instead of one document, whatever the name says */
  readonly isSequence: boolean
}

interface ParsedFeature {
  readonly type?: unknown
  readonly id?: unknown
  readonly geometry?: unknown
  readonly properties?: Readonly<Record<string, unknown>> | null
}

/** The facts that only a whole reading shows. */
interface Schema {
  readonly encoding: Guess
  /** the bits of the values that occur, by name */
  readonly fields: ReadonlyMap<string, number>
  readonly features: number
  readonly documents: number
  readonly rootType: string
  /** null: the file has the member and names no system; undefined: it has no such member */
  readonly crsName: string | null | undefined
  /** what finds the features in the bytes */
  readonly split: typeof splitJson
}

/**
 * Reads facts from a GeoJSON file or sequence, feature by feature. All but the encoding are null if the content is larger than `maxBytes`, nested too
 * deeply, or damaged. Throws the disk's errors.
 */
export function geojsonFacts(
  root: string,
  path: string,
  progress: () => void,
  { isSequence = false, maxBytes = MAX_GEOJSON_BYTES } = {},
): GeojsonContent {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return { facts: UNKNOWN_FACTS, isSequence }
  const { fd, size } = opened
  try {
    if (size > maxBytes) return ofItsHead(opened, isSequence)
    const file = { fd, size }
    const encoding = encodingOfText(file, progress)
    let extent = new Extent()
    try {
      const schema = schemaOf(file, encoding, progress, () => {
        extent = new Extent()
        return (geometry) => extent.take(geometry)
      })
      const facts = { ...OF_ANY, ...describe(schema, extent), ...encodingFacts(encoding) }
      return { facts, isSequence: isSequence || (schema.documents > 1 && schema.rootType !== 'FeatureCollection') }
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error
      return { facts: { ...OF_ANY, ...encodingFacts(encoding) }, isSequence }
    }
  } finally {
    closeSync(fd)
  }
}

/** Opens the only layer of a GeoJSON file or sequence. Reads it once for its fields. @param encoding null: found in the file */
export function geojsonLayer(file: TextFile, name: string, encoding: string | null, progress: () => void): SourceLayer {
  const schema = schemaOf(file, (encoding as Guess) ?? encodingOfText(file, progress), progress)
  const fields = [...schema.fields].map(([field, seen]) => ({ name: field, type: typeOfSeen(seen) }))
  const { rootType, features, documents } = schema
  return {
    name,
    fields,
    crs: crsOf(schema),
    count: rootType === 'FeatureCollection' ? features : documents,
    features: () => readFeatures(file, schema, fields, progress),
  }
}

/** Reads the schema. A sequence in which records are broken is read by its lines. @param begin called before each reading, for what takes its geometries */
function schemaOf(
  file: TextFile,
  encoding: Guess,
  progress: () => void,
  begin: () => (geometry: unknown) => void = () => () => {},
): Schema {
  try {
    return readSchema(file, encoding, progress, begin(), splitJson)
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error
    try {
      return readSchema(file, encoding, progress, begin(), splitLines)
    } catch (again) {
      throw again instanceof DamagedFile ? error : again
    }
  }
}

function readSchema(
  file: TextFile,
  encoding: Guess,
  progress: () => void,
  onGeometry: (geometry: unknown) => void,
  split: typeof splitJson,
): Schema {
  const fields = new Map<string, number>()
  let [features, documents] = [0, 0]
  let rootType = ''
  let crsName: string | null | undefined
  const takeFeature = ({ geometry, properties }: ParsedFeature) => {
    features++
    for (const name in properties ?? {}) {
      fields.set(name, (fields.get(name) ?? 0) | seenIn((properties as Record<string, unknown>)[name]))
    }
    if (geometry !== null && geometry !== undefined) onGeometry(geometry)
  }
  for (const part of split(utf8Pieces(file, encoding, progress))) {
    if (part.what === 'other') {
      features++
      if (split === splitLines) documents++
      continue
    }
    const parsed = parsePart(part.text, features)
    if (part.what === 'feature') {
      takeFeature(parsed)
      continue
    }
    const { type, crs } = parsed as { type?: unknown; crs?: StatedCrs | null }
    if (typeof type === 'string') rootType = type
    if (crs !== undefined) crsName = nameOf(crs)
    if (part.what === 'members') continue
    documents++
    if (type === 'Feature') takeFeature(parsed)
    else if (type !== 'FeatureCollection') onGeometry(parsed)
  }
  return { encoding, fields, features, documents, rootType, crsName, split }
}

/** The member of GeoJSON before RFC 7946. Its first draft had codes of EPSG in place of names. */
interface StatedCrs {
  readonly type?: unknown
  readonly properties?: { readonly name?: unknown; readonly code?: unknown } | null
}

function nameOf(crs: StatedCrs | null): string | null {
  const { name, code } = crs?.properties ?? {}
  if (typeof name === 'string') return name
  return crs?.type === 'EPSG' && /^\d{4,6}$/.test(String(code)) ? `EPSG:${code}` : null
}

function parsePart(text: string, read: number): ParsedFeature {
  try {
    return (parseJson(text) ?? {}) as ParsedFeature
  } catch (error) {
    throw new DamagedFile(read, (error as Error).message)
  }
}

function* readFeatures(
  file: TextFile,
  { encoding, split }: Schema,
  fields: readonly { name: string; type: FieldType }[],
  progress: () => void,
): Generator<SourceFeature, void> {
  const writer = new WkbWriter()
  let row = 0
  for (const part of split(utf8Pieces(file, encoding, progress))) {
    if (part.what === 'members') continue
    if (part.what === 'other') {
      row++
      yield { id: null, row, geometry: null, isDamaged: true, values: fields.map(() => null) }
      continue
    }
    const parsed = parsePart(part.text, row)
    const isBare = part.what === 'document' && parsed.type !== 'Feature'
    if (isBare && parsed.type === 'FeatureCollection') continue
    row++
    const { id, properties = null, geometry = null }: ParsedFeature = isBare ? { geometry: parsed } : parsed
    writer.begin()
    const isWritten = geometry !== null && writeGeoJson(geometry, writer)
    yield {
      id: idOf(id),
      row,
      geometry: isWritten ? writer.end() : null,
      isDamaged: geometry !== null && !isWritten,
      values: fields.map(({ name, type }) =>
        properties !== null && Object.hasOwn(properties, name) ? jsonValue(properties[name], type) : null,
      ),
    }
  }
}

function describe(schema: Schema, { types, box, placed, geometries, offEarth }: Extent): Partial<VectorFacts> {
  const { rootType, documents, features, fields, crsName } = schema
  const crs = crsOf(schema)
  // If most coordinates of a file without `crs` are outside of degrees, they belong to another system, as for the build. Single ones are mistakes.
  const isSomethingElse = crsName === undefined && offEarth * 2 > geometries
  const bounds = crs === null || isSomethingElse ? null : boundsInWgs84(crs, crsName === undefined ? placed : box)
  return {
    crs: isSomethingElse ? null : (crs?.name ?? null),
    bounds,
    geometry_type: geometryTypeOf(types),
    feature_count: rootType === 'FeatureCollection' ? features : documents,
    fields: fields.size > MAX_FIELDS ? null : [...fields].map(toField),
  }
}

/** RFC 7946 allows only WGS 84. Before it, a member `crs` named other systems, and null meant unknown. */
function crsOf({ crsName }: Schema): Crs | null {
  if (crsName === undefined) return WGS84
  return crsName === null ? null : crsOfName(crsName)
}

function toField([name, seen]: [string, number]): VectorField {
  return { name: name.slice(0, MAX_NAME), type: catalogType(typeOfSeen(seen)) }
}

type Box = [number, number, number, number]

const nowhere = (): Box => [Infinity, Infinity, -Infinity, -Infinity]

/** The kinds and the boxes of the geometries, as the file has them. */
class Extent {
  readonly types = new Set<GeometryType>()
  geometries = 0
  /** geometries with a coordinate that is no degree */
  offEarth = 0
  readonly box = nowhere()
  /** of the geometries whose coordinates all are degrees */
  readonly placed = nowhere()
  #own = nowhere()

  take(geometry: unknown): void {
    const { type } = geometry as { type?: unknown }
    if (GEOJSON_GEOMETRIES.has(type as string)) this.types.add(type as GeometryType)
    this.#own = nowhere()
    this.#walk(geometry)
    const [west, south, east, north] = this.#own
    if (west === Infinity) return
    this.geometries++
    unite(this.box, this.#own)
    const isOff = west < -MAX_LONGITUDE || east > MAX_LONGITUDE || south < -MAX_LATITUDE || north > MAX_LATITUDE
    if (isOff) this.offEarth++
    else unite(this.placed, this.#own)
  }

  #walk(geometry: unknown): void {
    const { coordinates, geometries } = geometry as { coordinates?: unknown; geometries?: unknown }
    if (Array.isArray(coordinates)) this.#extend(coordinates)
    if (Array.isArray(geometries)) for (const inner of geometries) if (inner !== null) this.#walk(inner)
  }

  #extend(coordinates: readonly unknown[]): void {
    const [x, y] = coordinates
    if (typeof x !== 'number' || typeof y !== 'number') {
      for (const inner of coordinates) if (Array.isArray(inner)) this.#extend(inner)
      return
    }
    const box = this.#own
    if (x < box[0]) box[0] = x
    if (y < box[1]) box[1] = y
    if (x > box[2]) box[2] = x
    if (y > box[3]) box[3] = y
  }
}

function unite(all: Box, one: Box): void {
  for (const i of [0, 1] as const) all[i] = Math.min(all[i], one[i])
  for (const i of [2, 3] as const) all[i] = Math.max(all[i], one[i])
}

/** Reads only the first piece of a large file. */
function ofItsHead({ fd, size }: TextFile, isSequence: boolean): GeojsonContent {
  const head = Buffer.alloc(Math.min(HEAD_BYTES, size))
  readSync(fd, head, 0, head.length, 0)
  const [first = '', second = ''] = head.toString('latin1').trim().split('\n', 2)
  const isLines = first.startsWith('{') && first.trimEnd().endsWith('}') && second.trimStart().startsWith('{')
  return { facts: { ...OF_ANY, ...encodingFacts(guessEncoding(head)) }, isSequence: isSequence || isLines }
}

function encodingFacts(encoding: Guess): Partial<ReadFacts> {
  if (encoding === 'UTF-8' || encoding === 'ASCII') return {}
  const warnings: CodedMessage[] = [
    encoding === null ? coded('scan_json_encoding_unknown') : coded('scan_geojson_encoding', { encoding }),
  ]
  return { encoding: encoding ?? FALLBACK_ENCODING, encoding_source: null, warnings }
}
