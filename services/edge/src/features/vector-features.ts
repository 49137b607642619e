import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type CodedMessage, coded, type MessageCode, textOf } from '@gateway/contracts/messages.js'
import type { ReadFacts } from '@gateway/contracts/vector.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import type { VectorSource } from '@gateway/vectors/formats/open-vector.js'
import { DESCRIPTION_FILE, INDEX_FILE, indexDescriptionSchema } from '@gateway/vectors/index-file/index-description.js'
import type { Databases } from '@gateway/vectors/postgis/databases.js'
import { descriptionOf } from '@gateway/vectors/postgis/description.js'
import { type Conversion, type ConversionOutcome, type Form, runConversion } from '@gateway/vectors/query/conversion.js'
import { type Crs, DEFAULT_CRS } from '@gateway/vectors/query/crs.js'
import type { Chunk, ItemsQuery } from '@gateway/vectors/query/items-query.js'
import type { QueriedIndex } from '@gateway/vectors/query/parameters.js'
import { QueryProcesses } from '@gateway/vectors/query/query-processes.js'
import { LRUCache } from 'lru-cache'
import type { CatalogVector } from '../sync/catalog.js'
import type { TileLoader } from '../tiles/tile-loader.js'
import { type Derived, DerivedStore } from './derived-store.js'

/** Limit: memory of GDAL's tools, in MB. */
const MEMORY_MB = 1_500
/** Time in ms after which the existence of an index is checked again. */
const LOOK_AGAIN_MS = 1_000
/** Limit: the size of a table is not known, so that a copy of it gets the limits of a file of this size. */
const LARGEST_TABLE_BYTES = 2 ** 30
/** Limit: cached descriptions of indexes. */
const MAX_DESCRIPTIONS = 500

export interface FeaturesOptions {
  readonly folder: string
  readonly maxBytes: number
  readonly tiles: Pick<TileLoader, 'remote'>
  /** Returns a vector as the catalog has it now. */
  current(code: string): CatalogVector | undefined
  readonly databases: Databases
}

export type NotMade = Exclude<Derived, { made: true }>
export type FoundIndex = { readonly made: true; readonly index: QueriedIndex } | NotMade

/** The features of vectors: an index for each content, queries of it, and downloads that are made from it. */
export class VectorFeatures {
  readonly databases: Databases
  readonly #queries = new QueryProcesses()
  readonly #store: DerivedStore
  readonly #maxBytes: number
  readonly #tiles: Pick<TileLoader, 'remote'>
  readonly #current: FeaturesOptions['current']
  readonly #described = new LRUCache<string, QueriedIndex>({
    max: MAX_DESCRIPTIONS,
  })
  readonly #copies = new LRUCache<string, { readonly label: string; goodUntilMs: number }>({ max: MAX_DESCRIPTIONS })
  /** folders in which an index was found a moment ago */
  readonly #looked = new LRUCache<string, true>({
    max: MAX_DESCRIPTIONS,
    ttl: LOOK_AGAIN_MS,
  })

  constructor({ folder, maxBytes, tiles, current, databases }: FeaturesOptions) {
    this.databases = databases
    this.#store = new DerivedStore(folder, maxBytes)
    this.#maxBytes = maxBytes
    this.#tiles = tiles
    this.#current = current
  }

  /**
   * Returns the index of a vector's current content, and makes it if it is missing. Rejects with the errors of disk and
   * object storage.
   * @param caller see `DerivedStore.get`
   */
  async index(vector: CatalogVector, caller = ''): Promise<FoundIndex> {
    const ofDatabase = databaseIndex(vector)
    if (ofDatabase !== null) return ofDatabase
    const revision = revisionOf(vector)
    const { build, buildRevision } = vector.stored.tiles
    // Uses the index that the control plane has built with the tiles, if it is visible on this host and of the current
    // content.
    if (build !== null && buildRevision === vector.stored.revision) {
      const built = await this.#describe(build.folder, revision).catch(() => null)
      if (built !== null) return { made: true, index: built }
    }
    const limit = metLimit(vector)
    if (limit !== null) return { made: false, why: 'fault', message: textOf(limit) }
    const derived = await this.#store.get(revision, vector.stored.code, (target) => this.#build(vector, target), caller)
    if (derived.made)
      return {
        made: true,
        index: await this.#describe(derived.path, revision),
      }
    // The file is newer than its last scan, which the next scan changes.
    return derived.why === 'replaced' ? ((await this.before(vector)) ?? derived) : derived
  }

  /** The index of the content whose tiles are served, until that of the present content is there. null: no tiles are built, or their index is unreadable. */
  async before({ stored: { tiles } }: CatalogVector): Promise<FoundIndex | null> {
    const { build, buildRevision } = tiles
    if (build === null) return null
    const index = await this.#describe(build.folder, `build-${buildRevision}`).catch(() => null)
    return index && { made: true, index }
  }

  /** Runs a query of an index or a table. See `QueryProcesses.run`. @param code of the vector */
  run(query: ItemsQuery, code: string, gone?: AbortSignal, caller = ''): AsyncGenerator<Chunk, void> {
    const { table } = query
    return table === undefined
      ? this.#queries.run(query, gone, caller)
      : this.databases.run({ ...query, table }, code, gone, caller)
  }

  /** Returns a download of an indexed vector in another form. */
  async form(
    vector: CatalogVector,
    { description, revision, file, table }: QueriedIndex,
    form: Form,
    { crs, isGuarded }: { readonly crs: Crs; readonly isGuarded: boolean },
    caller = '',
  ): Promise<Derived> {
    const system = crs === DEFAULT_CRS ? 'crs84' : crs.uri.replace(/^.*\//, '')
    const base = `${revision}-${system}${isGuarded ? '-guarded' : ''}`
    const copy = table === undefined ? null : this.#copyOf(`${base}.${form} ${table.isPersonal ? caller : ''}`)
    const name = `${base}${copy === null ? '' : `-${copy.label}`}.${form}`
    const { code } = vector.stored
    const fileName = `download.${form}`
    const make = async (target: string) => {
      const output = path.join(target, fileName)
      const database = table === undefined ? undefined : await this.databases.tableSource(table, caller)
      const task = { index: file, database, description, code, form, crs, isGuarded, output, memoryMb: MEMORY_MB }
      const bytes = table === undefined ? (await fs.stat(file)).size : LARGEST_TABLE_BYTES
      const outcome = await this.#convert(vector, { what: 'form', task }, target, bytes)
      await fs.rm(path.join(target, '.table'), { recursive: true, force: true })
      return outcome
    }
    const derived = await this.#store.get(name, code, make, caller)
    if (copy !== null) copy.goodUntilMs = performance.now() + (table?.ttlSeconds ?? 0) * 1000
    // It has its own folder, whose time is that of its last use, because the file's own times are part of its tag.
    return derived.made ? { made: true, path: path.join(derived.path, fileName) } : derived
  }

  /** Returns the copy of a table that downloads are sent from: the one that is being made, or that was made a moment ago. */
  #copyOf(name: string): { readonly label: string; goodUntilMs: number } {
    const known = this.#copies.get(name)
    if (known !== undefined && performance.now() < known.goodUntilMs) return known
    const copy = { label: randomUUID(), goodUntilMs: Number.POSITIVE_INFINITY }
    this.#copies.set(name, copy)
    return copy
  }

  async #describe(folder: string, revision: string): Promise<QueriedIndex> {
    const file = path.join(folder, INDEX_FILE)
    const known = this.#described.get(folder)
    if (known?.revision === revision && this.#looked.has(folder)) return known
    await fs.access(file)
    this.#looked.set(folder, true)
    if (known?.revision === revision) return known
    const text = await fs.readFile(path.join(folder, DESCRIPTION_FILE), 'utf8')
    const index = { description: indexDescriptionSchema.parse(JSON.parse(text)), revision, file }
    this.#described.set(folder, index)
    return index
  }

  close(): void {
    this.#queries.close()
    this.databases.close()
  }

  /** Runs a conversion until its vector is withdrawn, deleted or has new content. */
  async #convert(vector: CatalogVector, conversion: Conversion, folder: string, sourceBytes: number) {
    const revision = revisionOf(vector)
    const unwanted = new AbortController()
    const timer = setInterval(() => {
      const current = this.#current(vector.stored.code)
      if (current?.served !== true || revisionOf(current) !== revision) unwanted.abort()
    }, LOOK_AGAIN_MS)
    try {
      const { signal } = unwanted
      return await runConversion(conversion, { sourceBytes, folder, maxBytes: this.#maxBytes, signal })
    } finally {
      clearInterval(timer)
    }
  }

  async #build(vector: CatalogVector, target: string): Promise<ConversionOutcome> {
    const { stored, encoding, factsText } = vector
    await fs.mkdir(target, { recursive: true })
    const fetched = path.join(target, 'fetched')
    try {
      const source = isRemote(stored.path)
        ? await this.#fetch(vector, fetched)
        : { root: stored.sourcePath, path: stored.path }
      if (source === null) return { made: false, why: 'failed', message: textOf(GONE), said: GONE }
      const crs = factsText === null ? null : (JSON.parse(factsText) as { crs: string | null }).crs
      const task = {
        source,
        kind: stored.kind,
        fingerprint: isRemote(stored.path) ? null : stored.fingerprint,
        encoding: encoding?.name ?? null,
        code: stored.code,
        crs,
        output: target,
        limits: { memoryMb: MEMORY_MB },
      }
      return await this.#convert(vector, { what: 'index', task }, target, stored.size)
    } finally {
      await fs.rm(fetched, { recursive: true, force: true })
    }
  }

  /** Copies a vector from object storage, with the parts of a shapefile. Returns null if it does not exist. */
  async #fetch({ stored }: CatalogVector, folder: string): Promise<VectorSource | null> {
    const { sourcePath: root, path: location, kind } = stored
    await fs.mkdir(folder)
    const base = location.replace(/\.[^.]*$/, '')
    const parts = kind === 'shapefile' ? ['shx', 'dbf', 'prj', 'cpg'].map((extension) => `${base}.${extension}`) : []
    for (const [i, part] of [location, ...parts].entries()) {
      const reader = await this.#tiles.remote?.reader(root, part)
      if (reader === undefined && i === 0) return null
      if (reader === undefined) continue
      const pieces = reader.pieces({ offset: 0, length: reader.facts.size })
      await pipeline(pieces, createWriteStream(path.join(folder, `source.${part.replace(/^.*\./, '')}`)))
    }
    const real = await fs.realpath(folder)
    return { root: real, path: path.join(real, `source.${location.replace(/^.*\./, '')}`) }
  }
}

/** Returns the description of what a database has; null: the vector is a file. */
function databaseIndex({ stored, factsText }: CatalogVector): FoundIndex | null {
  const facts = factsText === null ? null : (JSON.parse(factsText) as ReadFacts)
  const relation = facts?.relation
  if (facts === null || relation === undefined) return null
  if (relation.what === 'function')
    return { made: false, why: 'fault', message: textOf(coded('features_of_function', { name: stored.code })) }
  const { geometry_type: geometryType, feature_count: count, bounds } = facts
  const description = descriptionOf({ relation, name: stored.code, geometryType, count, bounds })
  return {
    made: true,
    index: {
      description,
      revision: `${stored.fingerprint.slice(0, 16)}-${stored.revision}`,
      file: '',
      table: relation,
    },
  }
}

const GONE = coded('vector_file_gone')

/** Limits that also apply if only the index is made. */
const LIMITS_OF_INDEX: ReadonlySet<MessageCode> = new Set([
  'vector_limit_time',
  'vector_limit_processor',
  'vector_limit_memory',
])

/** Returns the limit that the last build of the present content has met, which another attempt here would meet again; null: none. */
function metLimit({ stored: { tiles } }: CatalogVector): CodedMessage | null {
  const said = tiles.queued ? null : tiles.messageCoded
  return said !== null && LIMITS_OF_INDEX.has(said.code) ? said : null
}

/** Returns a name for the content and the way in which it is read. */
export function revisionOf({ stored, encoding }: CatalogVector): string {
  const { code, path: file, fingerprint, kind } = stored
  const named = JSON.stringify([2, code, file, fingerprint, kind, encoding?.name ?? null])
  return createHash('sha256').update(named).digest('base64url').slice(0, 27).replaceAll(/^[-_]/g, 'x')
}
