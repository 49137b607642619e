import { coded } from '@gateway/contracts/messages.js'
import { cleanText } from '@gateway/contracts/storable-text.js'
import { NUMBERED_GEOMETRY_TYPES } from '@gateway/contracts/vector.js'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import type { SourceFeature, SourceLayer, SourceValue, StreamedLayer } from '../formats/feature.js'
import { geoJsonOf } from '../query/encoders.js'
import { fieldsOf } from '../query/parameters.js'
import { type Blob, blobOf, type Forward } from './geometry-blob.js'
import type { Owner } from './give-ids.js'
import { type FeatureTexts, type IndexField, quoted, shownColumn } from './index-description.js'
import { bindable } from './index-tables.js'
import { storedId } from './own-id.js'
import { VectorFault } from './vector-fault.js'

/** Boxes that are added to the tree at a time. */
const CHUNK = 20_000
/** Limit: bytes of a feature whose text is kept. The text of a larger one is made for each response. */
const MAX_TEXT_BYTES = 64 * 1024
/** Damaged features that are named. */
const MAX_NAMED = 5

type Bound = [number, number, number, number]

/** A layer with its id in the index, and the conversion of its coordinates. */
export interface PlacedLayer {
  readonly id: string
  readonly source: SourceLayer | StreamedLayer
  readonly forward: Forward | null
  /** names of the fields, each of which occurs once */
  readonly names: readonly string[]
}

/** Writes features into the tables of an index: their rows, their texts, their boxes. */
export class FeatureWriter {
  readonly owners: Owner[] = []
  readonly damaged = { count: 0, examples: [] as string[] }
  count = 0
  hasZ = false
  /** number of features in the tree */
  placed = 0
  readonly #db: DatabaseSyncInstance
  readonly #fields: readonly IndexField[]
  readonly #shown: readonly IndexField[]
  readonly #order: readonly number[]
  readonly #row
  readonly #text
  readonly #place
  readonly #encode
  /** positions of fields whose texts SQLite's lower(), which knows ASCII only, folds as CASEI does */
  readonly #folded: Set<number>
  readonly #boxes: { fid: number; box: Readonly<Bound> }[] = []
  readonly #bounds: Bound = [Infinity, Infinity, -Infinity, -Infinity]
  #longest = 0
  #bytes = 0
  #texts = 0

  /** @param layers ids of all layers */
  constructor(db: DatabaseSyncInstance, fields: readonly IndexField[], layers: readonly string[]) {
    this.#db = db
    this.#fields = fields
    const columns = ['fid', 'geom', 'layer', 'feature_id', ...fields.map(({ column }) => quoted(column))]
    this.#row = db.prepare(`INSERT INTO features (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
    this.#text = db.prepare('INSERT OR REPLACE INTO feature_texts VALUES (?, ?)')
    this.#place = db.prepare('INSERT INTO rtree_features_geom VALUES (?, ?, ?, ?, ?)')
    this.#shown = fieldsOf({ fields, layers })
    this.#order = this.#shown.map(({ column }) => fields.findIndex((field) => field.column === column))
    this.#encode = geoJsonOf(this.#shown, null)
    this.#folded = new Set(fields.flatMap(({ type }, i) => (type === 'string' ? [i] : [])))
  }

  begin(layer: PlacedLayer): LayerWriter {
    return new LayerWriter(this, layer, this.#fields)
  }

  /** Returns the fid. @param values by column */
  add(layer: string, id: string | null, blob: Blob | null, values: readonly SourceValue[]): number {
    const fid = ++this.count
    this.#row.run(fid, blob?.bytes ?? null, layer, id, ...values.map(bindable))
    for (const i of this.#folded) if (!isFoldedByAscii(values[i])) this.#folded.delete(i)
    const shown = this.#order.map((i) => (i < 0 ? layer : shownValue(values[i] ?? null)))
    this.#keepText(fid, this.#encode({ fid, ownId: id, geometry: blob?.bytes ?? null, layer }, shown))
    if (blob === null || blob.box === null) return fid
    this.hasZ ||= blob.hasZ
    this.#extend(blob.box)
    this.#boxes.push({ fid, box: blob.box })
    if (this.#boxes.length >= CHUNK) this.flush()
    return fid
  }

  #keepText(fid: number, text: string): void {
    const bytes = Buffer.from(text)
    const isKept = bytes.length <= MAX_TEXT_BYTES
    this.#text.run(fid, isKept ? bytes : null)
    if (!isKept) return
    this.#longest = Math.max(this.#longest, bytes.length)
    this.#bytes += bytes.length
    this.#texts++
  }

  /** Writes the texts of features again, whose ids have changed. */
  rewrite(fids: readonly number[]): void {
    const select = this.#db.prepare(
      `SELECT feature_id, geom, layer${this.#shown.map((field) => `, ${shownColumn(field)}`).join('')} FROM features WHERE fid = ?`,
    )
    select.setReturnArrays(true)
    for (const fid of fids) {
      const [ownId, geometry, layer, ...values] = select.get(fid) as unknown as [string, Uint8Array | null, string]
      this.#keepText(fid, this.#encode({ fid, ownId, geometry, layer }, values))
    }
  }

  /** Adds the waiting boxes to the tree. Neighbours in the tree are neighbours on the map. */
  flush(): void {
    this.#boxes.sort((a, b) => cellOf(a.box) - cellOf(b.box))
    for (const { fid, box } of this.#boxes) this.#place.run(fid, box[0], box[2], box[1], box[3])
    this.placed += this.#boxes.length
    this.#boxes.length = 0
  }

  #extend([west, south, east, north]: Readonly<Bound>): void {
    const all = this.#bounds
    if (west < all[0]) all[0] = west
    if (south < all[1]) all[1] = south
    if (east > all[2]) all[2] = east
    if (north > all[3]) all[3] = north
  }

  get bounds(): Bound | null {
    const [west, south, east, north] = this.#bounds
    if (west > east) return null
    const wraps = west < -180 || east > 180
    return [wraps ? -180 : west, Math.max(-90, south), wraps ? 180 : east, Math.min(90, north)]
  }

  get texts(): FeatureTexts {
    return { longest: this.#longest, mean: this.#texts === 0 ? 0 : Math.ceil(this.#bytes / this.#texts) }
  }

  isFoldedByAscii({ column }: IndexField): boolean {
    return this.#folded.has(this.#fields.findIndex((field) => field.column === column))
  }
}

/** Writes the features of one layer. */
export class LayerWriter {
  count = 0
  readonly #writer: FeatureWriter
  readonly #layer: PlacedLayer
  /** the column of each field */
  readonly #columns: readonly number[]
  readonly #width: number
  readonly #kinds = new Set<number>()
  readonly #first: number
  #owned = 0
  #isKey = true
  #offEarth = 0
  #geometries = 0
  #unfit = 0

  constructor(writer: FeatureWriter, layer: PlacedLayer, fields: readonly IndexField[]) {
    this.#writer = writer
    this.#layer = layer
    this.#width = fields.length
    this.#first = writer.count + 1
    this.#columns = layer.source.fields.map(({ type }, i) =>
      fields.findIndex((field) => field.name === layer.names[i] && field.type === type),
    )
  }

  add({ id, row, geometry, isDamaged, values }: SourceFeature): void {
    this.count++
    if (id !== null) this.#owned++
    if (id !== row) this.#isKey = false
    const columns: SourceValue[] = new Array(this.#width).fill(null)
    for (let i = 0; i < values.length; i++) columns[this.#columns[i] as number] = storable(values[i] ?? null)
    if (geometry !== null || isDamaged) this.#geometries++
    const blob = geometry === null ? null : blobOf(geometry, this.#layer.forward)
    let kept: Blob | null = null
    if (typeof blob === 'string') {
      if (blob === 'off_earth') this.#offEarth++
      this.#name(id ?? row)
    } else {
      kept = blob
      if (isDamaged) this.#name(id ?? row)
    }
    if (kept !== null && kept.box !== null) this.#kinds.add(kept.kind)
    this.#writer.add(this.#layer.id, id === null ? null : storedId(storable(id)), kept, columns)
  }

  #name(id: string | number | bigint): void {
    const { damaged } = this.#writer
    this.#unfit++
    damaged.count++
    if (damaged.examples.length < MAX_NAMED) damaged.examples.push(`${this.#layer.id}.${id}`)
  }

  /** Throws VectorFault if most geometries have no place on the earth: then the coordinates are not what they seem. */
  assertPlaced(): void {
    const { id, source } = this.#layer
    this.#writer.owners.push({
      layer: id,
      first: this.#first,
      owned: this.#owned,
      count: this.count,
      isKey: this.#isKey && this.#owned > 0,
    })
    if (this.#offEarth * 2 > this.#geometries)
      throw new VectorFault(
        source.crs === null || source.crs.name === 'EPSG:4326'
          ? coded('vector_not_degrees')
          : coded('vector_off_earth', { name: source.crs.name }),
      )
    if (this.#layer.forward !== null && this.#geometries > 0 && this.#unfit === this.#geometries)
      throw new VectorFault(coded('vector_off_earth', { name: source.crs?.name ?? '' }))
  }

  get geometryType(): string | null {
    const [only] = this.#kinds
    if (this.#kinds.size === 0) return null
    if (this.#kinds.size === 1) return NUMBERED_GEOMETRY_TYPES[only as number] as string
    // A mix of polygons and multipolygons counts as multipolygons, as the catalog describes a file.
    for (const single of [1, 2, 3]) {
      if ([...this.#kinds].every((kind) => kind === single || kind === single + 3))
        return NUMBERED_GEOMETRY_TYPES[single + 3] as string
    }
    return 'Geometry'
  }
}

/** A cell of a grid, counted row by row. */
function cellOf([west, south]: Readonly<Bound>): number {
  return Math.floor((south + 90) * 8) * 16_384 + Math.floor((west + 720) * 8)
}

/** Matches what `cleanText` may change, and pairs of surrogates. */
const DOUBTFUL = /[\0\ud800-\udfff]/

/** Returns a value that every form holds: SQLite ends a text at NUL, and UTF-8 has no half of a surrogate pair. */
function storable<Value extends SourceValue>(value: Value): Value | string {
  return typeof value === 'string' && DOUBTFUL.test(value) ? cleanText(value) : value
}

function shownValue(value: SourceValue): string | number | null {
  return typeof value === 'bigint' ? String(value) : value
}

/** Characters that neither NFC nor lower case changes, except the letters of ASCII: most of CJK, with its punctuation and kana. */
const PLAIN = /^[\0-\x7f\u3001-\u3029\u3030-\u303f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uff08-\uff0f\uff1a]*$/

/** True if SQLite's lower(), which knows ASCII only, returns the text that CASEI does. */
function isFoldedByAscii(value: SourceValue | undefined): boolean {
  return typeof value !== 'string' || PLAIN.test(value)
}
