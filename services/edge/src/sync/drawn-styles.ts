import { createHash } from 'node:crypto'
import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { MOST_LATITUDE, PICTURE_FORMATS, type PictureFormat } from '@gateway/contracts/drawing.js'
import type { WantedResource } from '@gateway/core/access/decide.js'
import type { StoredBasemap, StoredVersion } from '@gateway/store/basemaps.js'
import { joinedAttribution } from '@gateway/tilesets/tilejson.js'
import { LRUCache } from 'lru-cache'
import {
  type Catalog,
  type CatalogBasemap,
  type CatalogStyle,
  type CatalogVector,
  type CatalogVersion,
  DATABASE_TILES,
  sharedCatalog,
  tilesOfData,
} from './catalog.js'

/** Prefix of the name by which the plain style of a vector is signed; no code of a style has a slash. */
export const VECTOR_STYLE = 'vectors/'
/** Prefix of the code of a style's pictures among basemaps, with which no code of a basemap begins. */
export const PICTURES_CODE = '/pictures/'
/** The root of their versions, which lies in no file system. */
export const PICTURES_ROOT = 'pictures:'
/** Deepest zoom of rendered tiles, that of MapLibre. */
export const MOST_ZOOM = 22
/** Limit: contents of pictures that this process tells apart. */
const MAX_CONTENTS = 20_000
/** Latitude to which Web Mercator reaches. */
const WORLD = [-180, -MOST_LATITUDE, 180, MOST_LATITUDE] as const
const NEVER = new Date(0)

/** A style that is drawn: of a scan source, or the plain style of a vector. */
export type DrawnStyle = {
  readonly code: string
  readonly name: string
  /** name by which it is signed */
  readonly signedAs: string
  readonly wanted: NonNullable<WantedResource>
  /** changes with everything in the catalog that its pictures show, over restarts too */
  readonly content: string
  /** of its document's sources and of the maps and vectors that it draws; null: none has one */
  readonly attribution: string | null
  /** false: it shows something that changes without a change of the catalog, such as a database or another host */
  readonly isLasting: boolean
} & ({ readonly kind: 'style'; readonly of: CatalogStyle } | { readonly kind: 'vector'; readonly of: CatalogVector })

/** Query parameter of the addresses of rendered tiles that names their content. */
export function revisionOf({ content }: DrawnStyle): string {
  return content.slice(0, 12)
}

/** The form of rendered tiles. */
export interface PictureKind {
  readonly format: PictureFormat
  /** points of a side */
  readonly tileSize: 256 | 512
  readonly ratio: 1 | 2
}

/** The styles of the last catalogs, by code. */
const known = new WeakMap<Catalog, Map<string, DrawnStyle | null>>()

/** Returns the style of a code, or the plain style of the vector with this code; null if neither is served. Canaries do not change pictures. */
export function drawnStyle(reached: Catalog, code: string): DrawnStyle | null {
  const catalog = sharedCatalog(reached)
  const ofCatalog = known.get(catalog) ?? new Map<string, DrawnStyle | null>()
  known.set(catalog, ofCatalog)
  const found = ofCatalog.get(code)
  if (found !== undefined) return found
  const made = findDrawn(catalog, code)
  // Other codes are unlimited.
  if (made !== null) ofCatalog.set(code, made)
  return made
}

function findDrawn(catalog: Catalog, code: string): DrawnStyle | null {
  const style = catalog.styles.get(code)
  if (style !== undefined) {
    const lasts = isLasting(catalog, style)
    const parts = JSON.stringify([...partsOf(catalog, style), fontsOf(catalog), lasts])
    return style.served ? sameAs(style, parts, () => drawnOfStyle(catalog, style, parts, lasts)) : null
  }
  const vector = catalog.vectors.get(code)
  if (!vector?.served || vector.tiles === null) return null
  const fonts = fontsOf(catalog)
  return sameAs(vector, fonts, () => drawnOfVector(vector, fonts))
}

const made = new WeakMap<object, { readonly parts: string; readonly drawn: DrawnStyle }>()

/** Returns the same object for as long as a style, and everything else that it shows, is the same: parts of documents are kept for it. */
function sameAs(of: CatalogStyle | CatalogVector, parts: string, make: () => DrawnStyle): DrawnStyle {
  const before = made.get(of)
  if (before?.parts === parts) return before.drawn
  const drawn = make()
  made.set(of, { parts, drawn })
  return drawn
}

function drawnOfStyle(catalog: Catalog, style: CatalogStyle, parts: string, lasts: boolean): DrawnStyle {
  const { stored, wanted } = style
  const { code, name, revision, fingerprint, document } = stored
  const attribution = joinedAttribution([...attributionsInside(document), ...attributionsOfSources(catalog, style)])
  const own = { kind: 'style', of: style, code, name, signedAs: code, wanted, attribution, isLasting: lasts } as const
  return withContent(own, () => [revision, fingerprint, document, parts])
}

function drawnOfVector(vector: CatalogVector, fonts: string): DrawnStyle {
  const { code, name, tiles, revision } = vector.stored
  const signedAs = `${VECTOR_STYLE}${code}`
  const attribution = attributionOfVector(vector)
  const own = { kind: 'vector', of: vector, code, name, signedAs, wanted: vector.wanted, attribution } as const
  return withContent({ ...own, isLasting: !isInDatabase(vector) }, () => [
    ...[revision, name, tiles.buildRevision, tiles.build?.builtAt, vector.factsText, fonts],
  ])
}

/** Returns the attributions that a style's document gives its sources. */
function attributionsInside(document: string): readonly unknown[] {
  // Most documents have none, and a list of thousands of styles is made without parsing them.
  if (!document.includes('"attribution"')) return []
  const { sources } = JSON.parse(document) as { readonly sources?: Readonly<Record<string, { attribution?: unknown }>> }
  return Object.values(sources ?? {}).map(({ attribution }) => attribution)
}

function attributionsOfSources(catalog: Catalog, { stored }: CatalogStyle): readonly unknown[] {
  return stored.dependencies.sources.map(({ kind, code, version }) =>
    kind === 'vector'
      ? attributionOfVector(catalog.vectors.get(code))
      : catalog.basemaps.get(code)?.versions.get(version ?? CURRENT_VERSION)?.stored.attribution,
  )
}

function attributionOfVector(vector: CatalogVector | undefined): string | null {
  return vector?.tiles?.versions.get(vector.tiles.stored.defaultVersion ?? '')?.stored.attribution ?? null
}

/** Digests the content when it is first needed: a list of thousands of vectors is made without it. */
function withContent<Own extends object>(
  own: Own,
  parts: () => readonly unknown[],
): Own & { readonly content: string } {
  let content: string | undefined
  return Object.defineProperty(own, 'content', {
    enumerable: true,
    get() {
      content ??= digest(parts())
      return content
    },
  }) as Own & { readonly content: string }
}

const lists = new WeakMap<Catalog, readonly DrawnStyle[]>()

/** Returns everything that is drawn and whose code no basemap has, by code. */
export function drawnStyles(reached: Catalog): readonly DrawnStyle[] {
  const catalog = sharedCatalog(reached)
  const before = lists.get(catalog)
  if (before !== undefined) return before
  const codes = new Set([...catalog.styles.keys(), ...catalog.vectors.keys()])
  const list = [...codes]
    .flatMap((code) => (catalog.basemaps.has(code) ? [] : (drawnStyle(catalog, code) ?? [])))
    .sort((a, b) => (a.code < b.code ? -1 : 1))
  lists.set(catalog, list)
  return list
}

function isLasting(catalog: Catalog, { stored }: CatalogStyle): boolean {
  const { sources, hosts } = stored.dependencies
  return (
    hosts.length === 0 &&
    sources.every(({ kind, code, version }) =>
      kind === 'vector'
        ? !isInDatabase(catalog.vectors.get(code))
        : catalog.basemaps.get(code)?.versions.get(version ?? CURRENT_VERSION)?.stored.storage !== 'upstream',
    )
  )
}

function isInDatabase(vector: CatalogVector | undefined): boolean {
  return [...(vector?.tiles?.versions.values() ?? [])].some(({ stored }) => stored.path.startsWith(DATABASE_TILES))
}

/** Returns what identifies the content of each source of a style, and of the other styles whose sprites it shows. */
function partsOf(catalog: Catalog, { stored }: CatalogStyle): unknown[] {
  const sources = stored.dependencies.sources.map(({ kind, code, version }) => {
    if (kind === 'vector') {
      const vector = catalog.vectors.get(code)
      return [code, vector?.served, vector?.stored.revision, vector?.stored.tiles.buildRevision]
    }
    const served = catalog.basemaps.get(code)?.versions.get(version ?? CURRENT_VERSION)?.stored
    return [code, served?.version, served?.revision, served?.fingerprint]
  })
  const sprites = stored.dependencies.sprites.map((code) => catalog.styles.get(code)?.stored.fingerprint)
  return [...sources, ...sprites]
}

const fontDigests = new WeakMap<Catalog['fonts'], string>()

function fontsOf({ fonts }: Catalog): string {
  const before = fontDigests.get(fonts)
  if (before !== undefined) return before
  const made = digest(fonts)
  fontDigests.set(fonts, made)
  return made
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

const contents = new LRUCache<string, CatalogBasemap>({ max: MAX_CONTENTS })
const pictures = new WeakMap<CatalogVersion, { readonly style: DrawnStyle; readonly kind: PictureKind }>()
let lastContentId = 0

/** Returns the rendered tiles of a style as a basemap with one version, so that they are looked up, kept and sent like others. */
export function pictureTiles(style: DrawnStyle, kind: PictureKind): CatalogBasemap {
  const key = `${labelOf(kind)} ${style.code} ${style.content}`
  const before = contents.get(key)
  if (before !== undefined) return before
  const made = toBasemap(style, kind)
  contents.set(key, made)
  return made
}

/** Returns what a version of rendered tiles shows; undefined for other versions. */
export function pictureOf(version: CatalogVersion) {
  return pictures.get(version)
}

function labelOf({ format, tileSize, ratio }: PictureKind): string {
  return `${format}-${tileSize}-${ratio}`
}

function toBasemap(style: DrawnStyle, kind: PictureKind): CatalogBasemap {
  const { code, name, content, wanted, attribution } = style
  const label = labelOf(kind)
  const stored: StoredVersion = {
    version: label,
    storage: 'xyz',
    rowsFromNorth: false,
    format: kind.format,
    extension: kind.format,
    tileSize: kind.tileSize,
    minZoom: 0,
    maxZoom: MOST_ZOOM,
    bounds: [...WORLD],
    boundsDerived: false,
    name,
    attribution,
    description: null,
    vectorLayers: null,
    tileMatrixSet: 'WebMercatorQuad',
    metadata: {},
    path: `${PICTURES_ROOT}${code}`,
    fingerprint: content,
    revision: 1,
    available: true,
    withdrawn: false,
    scannedAt: NEVER,
    overrides: {},
    scanned: null,
  }
  const version: CatalogVersion = {
    stored,
    root: PICTURES_ROOT,
    // Those of the catalog are positive.
    contentId: --lastContentId,
    tags: [],
    tagLines: '',
    usage: style.kind === 'vector' ? `vector:${code}` : 'basemap:',
  }
  pictures.set(version, { style, kind })
  const basemap: StoredBasemap = {
    code: `${PICTURES_CODE}${label}/${code}`,
    name,
    scannedName: name,
    setName: null,
    description: null,
    tags: [],
    owner: null,
    setDefault: null,
    defaultVersion: label,
    versions: [stored],
    tileBaseUrl: '',
    sourceCode: '',
    sourcePath: PICTURES_ROOT,
    sourceEnabled: true,
    withdrawn: false,
    cachePolicy: 'interface',
    sharedMaxAge: null,
    createdAt: NEVER,
    updatedAt: NEVER,
  }
  return { stored: basemap, wanted, versions: new Map([[label, version]]), held: new Map() }
}

/** Returns the basemap in which tiles are looked up: a basemap, the tiles of a vector, or the pictures of a style. */
export function tilesOf(catalog: Catalog, code: string): CatalogBasemap | undefined {
  if (!code.startsWith(PICTURES_CODE)) return tilesOfData(catalog, code)
  const [label = '', drawn = ''] = code.slice(PICTURES_CODE.length).split('/')
  const [formatText, size, ratio] = label.split('-')
  const format = PICTURE_FORMATS.find((one) => one === formatText)
  const style = drawnStyle(catalog, drawn)
  if (style === null || format === undefined) return undefined
  return pictureTiles(style, { format, tileSize: size === '256' ? 256 : 512, ratio: ratio === '2' ? 2 : 1 })
}
