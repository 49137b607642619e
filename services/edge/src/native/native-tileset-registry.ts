import path from 'node:path'
import { CURRENT_VERSION, isVectorFormat } from '@gateway/contracts/basemap.js'
import {
  type ColdSet,
  DATABASE_TILE_BYTES,
  GAP,
  type NativeTilesets,
  type SetHeads,
} from '@gateway/native-edge/cold-tiles/cold-sets.js'
import type { FixedAnswer } from '@gateway/native-edge/hot-tiles/responses.js'
import { isKnownGrid } from '@gateway/tilesets/address.js'
import { CONTENT_TYPES, extensionsOf, isCutByFeatures } from '@gateway/tilesets/formats.js'
import type { Source, SourceLayout } from '@gateway/tilesets/source.js'
import { SERVER_MARK } from '../answers/header-block.js'
import { cacheControlFor, tileHeaders } from '../answers/tile-headers.js'
import { layerOf } from '../standards/layer.js'
import { rangedSetId, sizedSetId } from '../standards/sized-set.js'
import type { Catalog, CatalogBasemap, CatalogVersion } from '../sync/catalog.js'
import { CachedBasemaps } from '../tiles/cached-basemaps.js'
import { RECHECK_MS, type TileTarget } from '../tiles/tile-cache.js'

/** Range in ms of a random offset, so that sets that were put together are not all renewed at once. */
const SPREAD_MS = 3_000
/** Limit: addresses of versions; a basemap has two addresses, and one for each version. A set takes some 500 bytes. */
const MAX_SETS = 16_384
const PREFIX = '/tiles/'

interface Known {
  readonly code: string
  readonly contentId: number
  readonly goodUntilMs: number
  /** Limit: JavaScript reads larger tiles. */
  readonly maxBytes: number
}

/** Returns the response for a missing tile of a version at a zoom that the version does not have. */
export type BeyondZooms = (version: CatalogVersion) => FixedAnswer

/**
 * The tile sets that the native tier reads itself. Each is put when JavaScript has looked up one of its tiles, for RECHECK_MS, and again with the
 * next request that reaches JavaScript. So the native tier learns of changes in the file system.
 */
export class NativeTilesetRegistry {
  readonly #sets: NativeTilesets
  readonly #beyondZooms: BeyondZooms
  readonly #dropTiles: (code: string) => void
  readonly #known = new Map<string, Known>()
  readonly #basemaps = new CachedBasemaps()

  /** @param dropTiles drops the tiles and the sets of a basemap */
  constructor(sets: NativeTilesets, beyondZooms: BeyondZooms, dropTiles: (code: string) => void) {
    this.#sets = sets
    this.#beyondZooms = beyondZooms
    this.#dropTiles = dropTiles
  }

  /** Puts the set of a tile's address that was just requested, with the current snapshot's target of that address and its source. */
  put(tilePath: string, target: TileTarget, source: Source, nowMs: number): void {
    const address = addressOf(tilePath)
    const { basemap, version, place } = target
    // The native tier knows quadtrees only.
    if (address === null || !isKnownGrid(version.stored.tileMatrixSet)) return
    const { contentId } = version
    const known = this.#known.get(address)
    if (known !== undefined && known.contentId === contentId && nowMs < known.goodUntilMs) {
      this.#putLeaves(contentId, source, place)
      return
    }
    const layout = source.layout?.() ?? null
    const at = layout === null ? null : placeOf(layout, target)
    if (at === null || (known === undefined && this.#known.size >= MAX_SETS)) return
    const goodUntilMs = nowMs + RECHECK_MS - Math.random() * SPREAD_MS
    const { code } = basemap.stored
    const { format, formats, tileMatrixSet } = version.stored
    const outcome = this.#sets.put({
      address,
      code,
      goodUntilMs,
      extensions: (formats ?? [format]).flatMap(extensionsOf),
      geographic: tileMatrixSet !== 'WebMercatorQuad',
      isCut: isCutByFeatures(format),
      plain: heads(target, false, isKept(layout)),
      packed: heads(target, true, isKept(layout)),
      mediaType: CONTENT_TYPES[format],
      isImage: !isVectorFormat(format),
      usage: version.usage,
      place: at,
    })
    if (outcome !== 'put') {
      this.#known.delete(address)
      if (outcome === 'touched') source.renewLayout?.()
      return
    }
    const { minZoom, maxZoom } = version.stored
    this.#sets.putZooms(address, minZoom, maxZoom, this.#beyondZooms(version))
    if (address === `${code}/${CURRENT_VERSION}`) this.#putWmts(address, basemap)
    const maxBytes = at.kind === 'database' ? DATABASE_TILE_BYTES : Number.POSITIVE_INFINITY
    this.#known.set(address, { code, contentId, goodUntilMs, maxBytes })
    this.#basemaps.add(basemap)
    this.#putLeaves(contentId, source, place)
  }

  /**
   * Returns `put` if the native tier itself reads a tile of this size, and keeps it if that is worthwhile; `due` if it would, but its set must be put
   * again.
   */
  stateOf(tilePath: string, nowMs: number, bytes = 0): 'put' | 'due' | null {
    const known = this.#known.get(addressOf(tilePath) ?? '')
    if (known === undefined || bytes > known.maxBytes) return null
    return nowMs < known.goodUntilMs ? 'put' : 'due'
  }

  /** Drops the sets, and all tiles, of the basemaps whose tiles differ in this snapshot. */
  follow(catalog: Catalog): void {
    const changed = this.#basemaps.takeChanged(catalog)
    if (changed.size === 0) return
    for (const code of changed) this.#dropTiles(code)
    for (const [address, { code }] of this.#known) if (changed.has(code)) this.#known.delete(address)
  }

  /** Number and bytes of the tiles of remote archives that were found on disk since the start. */
  get placed(): { readonly tiles: number; readonly bytes: number } {
    return this.#sets.placed
  }

  /** Frees the disk space of evicted parts. */
  forgetEvicted(): void {
    this.#sets.forgetEvicted()
  }

  #putWmts(address: string, basemap: CatalogBasemap): void {
    const layer = layerOf(basemap)
    if (layer === null) return
    const { set, format } = layer
    this.#sets.putWmts(address, [set.id, sizedSetId(layer), rangedSetId(layer)], CONTENT_TYPES[format], format)
  }

  #putLeaves(contentId: number, source: Source, place: TileTarget['place']): void {
    for (const [offset, leaf] of source.knownLeaves?.(place) ?? []) this.#sets.putLeaf(contentId, offset, leaf)
    for (const extent of source.knownExtents?.(place) ?? []) this.#sets.putExtent(contentId, extent)
  }
}

/**
 * Returns the part between `/tiles/` and the zoom, or null if it contains encoded characters. The address of a vector's tiles is
 * `vectors/{code}/tiles`.
 */
function addressOf(tilePath: string): string | null {
  let end = tilePath.length
  for (let i = 0; i < 3; i++) end = tilePath.lastIndexOf('/', end - 1)
  const begin = tilePath.startsWith(PREFIX) ? PREFIX.length : 1
  return end <= begin || tilePath.includes('%') ? null : tilePath.slice(begin, end)
}

/** Returns null if the path's name is not below the scan source; then its real path must be checked for each tile. */
function placeOf(layout: SourceLayout, { version }: TileTarget): ColdSet['place'] | null {
  const { contentId, root } = version
  if (layout.kind === 'archive') return { kind: 'archive', at: { id: contentId, ...layout.archive } }
  if (layout.kind === 'database') {
    const below = pathBelow(root, layout.path)
    return below === null ? null : { kind: 'database', at: { ...layout, id: contentId, root, path: below } }
  }
  // Kept tiles are below the folder of the cache, and not below the source.
  if (layout.kind === 'folder' && isKept(layout))
    return { kind: 'folder', at: { ...layout, root: layout.folder, folder: '' } }
  const below = pathBelow(root, layout.folder)
  if (below === null) return null
  const at = { root, folder: below === '' ? '' : `${below}/` }
  if (layout.kind === 'bundles') return { kind: 'bundles', at: { ...at, id: contentId, levels: layout.levels } }
  return { kind: 'folder', at: { ...layout, ...at } }
}

function pathBelow(root: string, file: string): string | null {
  const below = path.relative(root, file)
  return below === '..' || below.startsWith(`..${path.sep}`) || path.isAbsolute(below) ? null : below
}

function isKept(layout: SourceLayout | null): boolean {
  return layout?.kind === 'folder' && layout.kept !== undefined
}

function heads({ version, cacheControl: own }: TileTarget, packed: boolean, isKept: boolean): SetHeads {
  const cacheControl = isKept ? cacheControlFor(own, GAP) : own
  const { found, notModified } = tileHeaders(
    { version, cacheControl },
    { type: GAP, etag: GAP, modified: GAP, packed, gzip: packed },
  )
  return {
    found: [[found.name, found.value], SERVER_MARK],
    notModified: [[notModified.name, notModified.value], SERVER_MARK],
  }
}
