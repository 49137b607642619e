import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import type { DatabaseRelation } from '@gateway/contracts/postgis.js'
import type { ReadFacts } from '@gateway/contracts/vector.js'
import type { StyleResource, WantedResource } from '@gateway/core/access/decide.js'
import { VECTOR_CODES } from '@gateway/native-edge/hot-tiles/response-table.js'
import {
  isOffered,
  type RunningCanary,
  rootOf,
  type StoredBasemap,
  type StoredVersion,
} from '@gateway/store/basemaps.js'
import { READER_STYLES } from '@gateway/store/catalog/reader-lists.js'
import type { ServedFont, StoredStyle } from '@gateway/store/styles.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import { cacheTagHeaders, cacheTags } from '@gateway/tilesets/cache-tags.js'

/**
 * The requested resource, by kind and id: a version (which also counts for its basemap), or a basemap or vector. Also its name in the native table.
 */
export type UsageName = `${'version' | 'basemap' | 'vector'}:${string}`

const VERSION = 'version:'
export const versionUsage = (code: string, version: string): UsageName => `${VERSION}${code}/${version}`

/** A version as requests see it. */
export interface CatalogVersion {
  readonly stored: StoredVersion
  /** Directory of the scan source, outside of which nothing is served. */
  readonly root: string
  /** Identifies the content in this process: changes when a scan finds another path, storage or fingerprint, or when the revision increases. */
  readonly contentId: number
  /** Tags by which caches identify its tiles: as headers, and as their lines. */
  readonly tags: ReturnType<typeof cacheTagHeaders>
  readonly tagLines: string
  /** Usage name to which its requests are accounted. */
  readonly usage: UsageName
}

export interface CatalogBasemap {
  readonly stored: StoredBasemap
  readonly wanted: NonNullable<WantedResource>
  /** Available versions by label, without withdrawn ones, and the default one also under `current`. */
  readonly versions: ReadonlyMap<string, CatalogVersion>
  /** Versions that wait for an approval or were rejected, only for previews of the console. */
  readonly held: ReadonlyMap<string, CatalogVersion>
}

export interface TextEncoding {
  readonly name: string
  /** True if an operator has set it, which overrides the files. */
  readonly isSet: boolean
}

export interface CatalogVector {
  /** Without its facts, which would use much memory as objects. */
  readonly stored: Omit<StoredVector, 'facts'>
  /** Its facts as JSON; null if not known. */
  readonly factsText: string | null
  /** Encoding of its texts; null if not known. */
  readonly encoding: TextEncoding | null
  /** False if it is unavailable or withdrawn. It stays known by its names, since a token may be granted any of them. */
  readonly served: boolean
  readonly wanted: NonNullable<WantedResource>
  /** Its tiles, in the form of a basemap with one version; null if none are served. */
  readonly tiles: CatalogBasemap | null
}

export interface CatalogStyle {
  readonly stored: StoredStyle
  /** False if it is unavailable or withdrawn. Grants are still checked before that is disclosed. */
  readonly served: boolean
  readonly wanted: StyleResource
}

/** A basemap with another default version for a share of the tokens. */
export interface Canary {
  readonly code: string
  readonly running: RunningCanary
  /** The basemap as those tokens see it. */
  readonly basemap: CatalogBasemap
}

/** All basemaps, vectors and styles that requests need. Immutable; every change makes a new one. */
export interface Catalog {
  readonly basemaps: ReadonlyMap<string, CatalogBasemap>
  readonly vectors: ReadonlyMap<string, CatalogVector>
  /** Several scan sources may have the same relative path; sorted by served first, then by code. */
  readonly vectorsByPath: ReadonlyMap<string, readonly CatalogVector[]>
  readonly styles: ReadonlyMap<string, CatalogStyle>
  /** Fonts of all style sources, sorted by name. */
  readonly fonts: readonly ServedFont[]
  /** Basemaps whose default differs between tokens; usually empty. */
  readonly canaries: readonly Canary[]
  /** For a catalog of some tokens, the catalog of all; absent if it is that itself. */
  readonly shared?: Catalog
}

/** Returns the shared catalog, by which caches detect changes. */
export function sharedCatalog(catalog: Catalog): Catalog {
  return catalog.shared ?? catalog
}

export const EMPTY_CATALOG: Catalog = {
  basemaps: new Map(),
  vectors: new Map(),
  vectorsByPath: new Map(),
  styles: new Map(),
  fonts: [],
  canaries: [],
}

/** Rows that were read from the store; `codes` null means all, otherwise only these codes, and the rest stays. */
export interface CatalogRead<T> {
  readonly codes: readonly string[] | null
  readonly rows: readonly T[]
}

/** Styles that were read; `fonts` null means that they stay. */
export interface StylesRead {
  readonly styles: CatalogRead<StoredStyle>
  readonly fonts: readonly ServedFont[] | null
}

const NO_STYLES: StylesRead = { styles: { codes: [], rows: [] }, fonts: null }

/** Returns the next snapshot. A code that was requested and not found is removed. */
export function nextCatalog(
  before: Catalog,
  basemaps: CatalogRead<StoredBasemap>,
  vectors: CatalogRead<StoredVector>,
  styles: StylesRead = NO_STYLES,
): Catalog {
  const offered = { codes: basemaps.codes, rows: basemaps.rows.filter(isOffered) }
  const nextBasemaps = replaced(before.basemaps, offered, (stored) => toBasemap(stored, before))
  const nextVectors = replaced(before.vectors, vectors, (stored) => toVector(stored, before))
  const nextStyles = replaced(before.styles, styles.styles, toCatalogStyle)
  return {
    basemaps: nextBasemaps,
    vectors: nextVectors,
    vectorsByPath: byPath(nextVectors),
    styles: nextStyles,
    fonts: styles.fonts ?? before.fonts,
    canaries: nextBasemaps === before.basemaps ? before.canaries : canariesOf(nextBasemaps),
  }
}

/** Returns the catalog with a new number for a version whose content has changed, so that everything cached under its old number is invalid. */
export function withNewContent(before: Catalog, contentId: number): Catalog {
  const basemaps = new Map(before.basemaps)
  for (const [code, basemap] of before.basemaps) {
    if (![...basemap.versions.values()].some((version) => version.contentId === contentId)) continue
    const renewed = ++lastContentId
    const versions = [...basemap.versions].map(
      ([label, version]) =>
        [label, version.contentId === contentId ? { ...version, contentId: renewed } : version] as const,
    )
    basemaps.set(code, { ...basemap, versions: new Map(versions) })
  }
  return { ...before, basemaps, canaries: canariesOf(basemaps) }
}

function canariesOf(basemaps: ReadonlyMap<string, CatalogBasemap>): readonly Canary[] {
  const found: Canary[] = []
  for (const [code, basemap] of basemaps) {
    const running = basemap.stored.canary ?? null
    // If the canary's version was removed, its tokens have no default version until the control plane ends the canary.
    if (running !== null) found.push({ code, running, basemap: withDefault(basemap, running.version) })
  }
  return found
}

/** Returns a basemap with this version as its default. */
export function withDefault(basemap: CatalogBasemap, label: string): CatalogBasemap {
  let known = others.get(basemap)
  if (known === undefined) {
    known = new Map()
    others.set(basemap, known)
  }
  const before = known.get(label)
  if (before !== undefined) return before
  const made = makeWithDefault(basemap, label)
  known.set(label, made)
  return made
}

/** Keyed by label, so bounded by the number of its versions. */
const others = new WeakMap<CatalogBasemap, Map<string, CatalogBasemap>>()

function makeWithDefault(basemap: CatalogBasemap, label: string): CatalogBasemap {
  const versions = new Map(basemap.versions)
  const version = versions.get(label)
  if (version === undefined) versions.delete(CURRENT_VERSION)
  else versions.set(CURRENT_VERSION, version)
  return { ...basemap, versions, stored: { ...basemap.stored, defaultVersion: label } }
}

function replaced<Row extends { readonly code: string }, Entry>(
  before: ReadonlyMap<string, Entry>,
  read: CatalogRead<Row>,
  toEntry: (row: Row) => Entry,
): ReadonlyMap<string, Entry> {
  if (read.codes?.length === 0) return before
  const next = new Map(read.codes === null ? [] : before)
  for (const code of read.codes ?? []) next.delete(code)
  for (const row of read.rows) next.set(row.code, toEntry(row))
  return next
}

function toBasemap(stored: StoredBasemap, before: Catalog): CatalogBasemap {
  const known = before.basemaps.get(stored.code)
  const versions = new Map<string, CatalogVersion>()
  const held = new Map<string, CatalogVersion>()
  for (const version of stored.versions) {
    if (!version.available) continue
    if (!version.withdrawn) versions.set(version.version, toVersion(version, stored, known))
    else if ((version.review ?? null) !== null) held.set(version.version, toVersion(version, stored, known))
  }
  const current = stored.defaultVersion === null ? undefined : versions.get(stored.defaultVersion)
  if (current !== undefined) versions.set(CURRENT_VERSION, current)
  return { stored, wanted: { kind: 'basemap', code: stored.code }, versions, held }
}

let lastContentId = 0

function toVersion(stored: StoredVersion, basemap: StoredBasemap, known: CatalogBasemap | undefined): CatalogVersion {
  const root = rootOf(basemap, stored)
  const same = known?.versions.get(stored.version) ?? known?.held.get(stored.version)
  const contentId = same !== undefined && isSameContent(same, stored, root) ? same.contentId : ++lastContentId
  const tags = cacheTagHeaders(cacheTags(basemap.code, stored.version))
  const tagLines = tags.map(([name, value]) => `${name}: ${value}`).join('\r\n')
  const usage = same?.usage ?? versionUsage(basemap.code, stored.version)
  return { stored, root, contentId, tags, tagLines, usage }
}

function isSameContent(known: CatalogVersion, now: StoredVersion, root: string): boolean {
  return (
    known.root === root &&
    known.stored.revision === now.revision &&
    known.stored.fingerprint === now.fingerprint &&
    known.stored.path === now.path &&
    known.stored.storage === now.storage &&
    known.stored.extension === now.extension &&
    known.stored.format === now.format &&
    known.stored.formats?.join() === now.formats?.join() &&
    known.stored.tileMatrixSet === now.tileMatrixSet
  )
}

/** Prefix of the code of a vector's tiles among basemaps, with which no code of a basemap begins. */
export const VECTOR_TILES_CODE = VECTOR_CODES

/** Returns the basemap in which tiles are looked up: a basemap, or the tiles of a vector. */
export function tilesOfData({ basemaps, vectors }: Catalog, code: string): CatalogBasemap | undefined {
  if (!code.startsWith(VECTOR_TILES_CODE)) return basemaps.get(code)
  return vectors.get(code.slice(VECTOR_TILES_CODE.length))?.tiles ?? undefined
}

/** Beginning of the place of tiles that a database makes; the code of its source follows. */
export const DATABASE_TILES = 'postgis:'

const NEVER = new Date(0)

/** Returns the tiles of a vector as a basemap whose only version is the served revision, so that they are opened, read and cached like others. */
function toTiles(vector: Omit<StoredVector, 'facts'>, known: CatalogBasemap | undefined): CatalogBasemap | null {
  const { build, buildRevision } = vector.tiles
  if (build === null || buildRevision === null || build.minZoom === null || build.maxZoom === null) return null
  const label = String(buildRevision)
  const code = `${VECTOR_TILES_CODE}${vector.code}`
  const { bounds, vectorLayers, folder } = build
  const isDatabase = folder.startsWith(DATABASE_TILES)
  const minZoom = (isDatabase ? vector.tiles.setMinZoom : null) ?? build.minZoom
  const maxZoom = (isDatabase ? vector.tiles.setMaxZoom : null) ?? build.maxZoom
  const version: StoredVersion = {
    version: label,
    storage: 'pmtiles',
    rowsFromNorth: false,
    format: 'pbf',
    extension: 'pbf',
    tileSize: 512,
    minZoom,
    maxZoom,
    bounds,
    boundsDerived: false,
    name: vector.name,
    attribution: null,
    description: null,
    vectorLayers,
    tileMatrixSet: 'WebMercatorQuad',
    metadata: {},
    path: isDatabase ? folder : `${folder}/tiles.pmtiles`,
    fingerprint: `${folder} ${build.builtAt}`,
    revision: buildRevision,
    available: true,
    withdrawn: false,
    scannedAt: NEVER,
    overrides: {},
    scanned: null,
  }
  const same = known?.versions.get(label)
  const isSame = same !== undefined && isSameContent(same, version, folder)
  const entry: CatalogVersion = {
    stored: version,
    root: folder,
    contentId: isSame ? same.contentId : ++lastContentId,
    tags: [],
    tagLines: '',
    usage: `vector:${vector.code}`,
  }
  const stored: StoredBasemap = {
    code,
    name: vector.name,
    scannedName: vector.name,
    setName: null,
    description: null,
    tags: [],
    owner: null,
    setDefault: null,
    defaultVersion: label,
    versions: [version],
    tileBaseUrl: '',
    sourceCode: vector.sourceCode,
    sourcePath: folder,
    sourceEnabled: vector.sourceEnabled,
    withdrawn: vector.withdrawn,
    cachePolicy: 'interface',
    sharedMaxAge: null,
    createdAt: NEVER,
    updatedAt: NEVER,
  }
  const wanted = { kind: 'vector', names: [vector.code, vector.relativePath, vector.fileName] } as const
  return { stored, wanted, versions: new Map([[label, entry]]), held: new Map() }
}

/** True if every address of a basemap's tiles has the same response: the same versions, each with the same content, default and cache policy. */
export function hasSameTiles(before: CatalogBasemap, now: CatalogBasemap | undefined): boolean {
  if (before === now) return true
  if (before.versions.size !== now?.versions.size || !isCachedAlike(before.stored, now.stored)) return false
  for (const [label, { contentId }] of before.versions) {
    if (now.versions.get(label)?.contentId !== contentId) return false
  }
  return true
}

function isCachedAlike(before: StoredBasemap, now: StoredBasemap): boolean {
  if (before.canary?.id !== now.canary?.id) return false
  return before.cachePolicy === now.cachePolicy && before.sharedMaxAge === now.sharedMaxAge
}

function toVector({ facts, ...stored }: StoredVector, before: Catalog): CatalogVector {
  const served = stored.available && isOffered(stored)
  const name = stored.setEncoding ?? facts?.encoding ?? null
  const encoding = name === null ? null : { name, isSet: stored.setEncoding !== null }
  return {
    stored,
    factsText: facts === null ? null : JSON.stringify(facts),
    encoding,
    served,
    tiles: served ? toTiles(stored, before.vectors.get(stored.code)?.tiles ?? undefined) : null,
    wanted: { kind: 'vector', names: [stored.code, stored.relativePath, stored.fileName] },
  }
}

function readFacts({ factsText }: CatalogVector): ReadFacts | null {
  return factsText === null ? null : (JSON.parse(factsText) as ReadFacts)
}

/** Returns the comment on the table of a vector; null: it has none, or is a file. */
export function commentOn(vector: CatalogVector): string | null {
  return readFacts(vector)?.description ?? null
}

/** Returns what of a database a vector is; null: it is a file. */
export function relationOf(vector: CatalogVector): DatabaseRelation | null {
  return readFacts(vector)?.relation ?? null
}

function toCatalogStyle(stored: StoredStyle): CatalogStyle {
  return {
    stored,
    served: stored.available && isOffered(stored),
    wanted: READER_STYLES.wanted(stored) as StyleResource,
  }
}

function byPath(vectors: ReadonlyMap<string, CatalogVector>): ReadonlyMap<string, readonly CatalogVector[]> {
  const paths = new Map<string, CatalogVector[]>()
  for (const vector of vectors.values()) {
    const same = paths.get(vector.stored.relativePath)
    if (same === undefined) paths.set(vector.stored.relativePath, [vector])
    else same.push(vector)
  }
  const order = (a: CatalogVector, b: CatalogVector) =>
    Number(b.served) - Number(a.served) || (a.stored.code < b.stored.code ? -1 : 1)
  for (const same of paths.values()) same.sort(order)
  return paths
}
