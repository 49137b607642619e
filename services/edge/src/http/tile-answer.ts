import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import type { Refusal } from '@gateway/contracts/errors.js'
import type { AccessToken, WantedResource } from '@gateway/core/access/decide.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { TilePath } from '@gateway/tilesets/address.js'
import { CONTENT_TYPES, isExtensionOf } from '@gateway/tilesets/formats.js'
import type { Tile } from '@gateway/tilesets/source.js'
import { isInSet, matrixSetOf, tileTouches } from '@gateway/tilesets/tile-matrix-sets.js'
import { cacheControlFor, tileEtag, tileHeaders } from '../answers/tile-headers.js'
import type { Edge } from '../edge.js'
import type { CatalogBasemap, CatalogVersion, UsageName } from '../sync/catalog.js'
import { OpenFile } from '../tiles/open-file.js'
import { CachedTile, type TileAnswer, type TileTarget } from '../tiles/tile-cache.js'
import { isUnfixed } from './at-time.js'
import type { Signable } from './authorize-signed.js'
import {
  absentVersion,
  isOutsideZooms,
  noRetina,
  outsideGrid,
  outsideZooms,
  wrongExtension,
} from './missing-reasons.js'
import { MALFORMED_TILE, type MissingTile, missingTile, NO_SUCH_TILE, TILE_NOT_FOUND } from './refusals.js'

type TileAddressPath = Extract<TilePath, { kind: 'tile' }>

/** Default Cache-Control of every tile. */
const CACHE_CONTROL = 'public, max-age=31536000, immutable'

export function wantedVector({ freshness }: Edge, code: string): NonNullable<WantedResource> {
  return freshness.catalog.vectors.get(code)?.wanted ?? { kind: 'vector', names: [code] }
}

/** Returns the grant that a basemap needs, even if the basemap does not exist. */
export function wantedBasemap(edge: Edge, code: string): NonNullable<WantedResource> {
  return edge.freshness.catalog.basemaps.get(code)?.wanted ?? { kind: 'basemap', code }
}

/** Returns the usage name of a request for a tile, if the catalog has the tile's version or basemap. */
export function usageOf(
  edge: Edge,
  { code, version: label }: Pick<TileAddressPath, 'code' | 'version'>,
): UsageName | null {
  const basemap = edge.freshness.catalog.basemaps.get(code)
  if (basemap === undefined) return null
  return basemap.versions.get(label ?? CURRENT_VERSION)?.usage ?? `basemap:${code}`
}

/**
 * Looks up an address in the catalog, for a caller who may read the basemap. `mayListVersions` is true if the caller may also see its
 * versions.
 */
export function findTarget(
  edge: Edge,
  { code, version: label, address }: TileAddressPath,
  mayListVersions = true,
  token: AccessToken | null = null,
): TileTarget | Refusal {
  if (!address.ok && address.reason === 'malformed') return MALFORMED_TILE
  const basemap = edge.freshness.catalog.basemaps.get(code)
  const served = basemap?.versions.get(label ?? CURRENT_VERSION)
  const version = served ?? heldVersion(basemap, label, token)
  if (basemap === undefined || version === undefined)
    return missingTile(absentVersion(code, label, basemap, mayListVersions), ['Cache-Control', 'no-store'])
  const { storage } = version.stored
  const set = matrixSetOf(version.stored)
  if (!address.ok) return outsideGrid(set, address.z)
  const isFolder = storage === 'xyz' || storage === 'tms'
  if (address.suffix !== '' && !isFolder) return noRetina(version)
  if (!isInSet(set, address.z, address.x, address.y)) return outsideGrid(set, address.z)
  if (!isServedAs(address.extension, version.stored)) return wrongExtension(version)
  // An address that means different versions to different tokens is never cached.
  const isShared = served !== undefined && !(isUnfixed(label) && (basemap.stored.canary ?? null) !== null)
  const cacheControl = served !== undefined ? tileCacheControl(edge.settings, basemap, label) : 'private, no-store'
  return { ok: true, basemap, version, place: address, cacheControl, isShared }
}

/** True if an address may name a set's tiles by this extension. The tiles of a set of several formats are found at the extensions of all of them. */
function isServedAs(extension: string, { format, formats }: CatalogVersion['stored']): boolean {
  return isExtensionOf(extension, format) || (formats?.some((other) => isExtensionOf(extension, other)) ?? false)
}

/** Registers the set of a tile with the native tier, for callers who may not read the tile. */
export function noteSet(edge: Edge, tilePath: string, wanted: Pick<Signable, 'code' | 'version' | 'address'>): void {
  const { code, version, address } = wanted
  const target = address === undefined ? MALFORMED_TILE : findTarget(edge, { kind: 'tile', code, version, address })
  if (target.ok && target.isShared)
    edge.native.registerTileset(tilePath, target, edge.tiles.opened(target.version), performance.now())
}

/** Returns a version that waits for an approval, for a preview of the console. */
export function heldVersion(
  basemap: CatalogBasemap | undefined,
  label: string | null,
  token: AccessToken | null,
): CatalogVersion | undefined {
  return token?.readsHeld === true && label !== null ? basemap?.held.get(label) : undefined
}

/** Returns the Cache-Control of tiles by the policy of their basemap. An address without a fixed version may have its own value. */
function tileCacheControl(settings: Settings, { stored }: CatalogBasemap, version: string | null): string {
  const isFixed = version !== null && version !== CURRENT_VERSION
  const { cachePolicy, sharedMaxAge } = stored
  // Browser caches cannot be purged: if the address may later mean another tile, they must revalidate each time.
  if (cachePolicy === 'private') return isFixed ? 'private, max-age=31536000, immutable' : 'private, no-cache'
  if (cachePolicy === 'shared')
    return isFixed
      ? `public, max-age=31536000, s-maxage=${sharedMaxAge}, immutable`
      : `public, max-age=0, s-maxage=${sharedMaxAge}, must-revalidate`
  return (isFixed ? settings.tileCacheControl : settings.currentCacheControl) ?? CACHE_CONTROL
}

/** Returns the Cache-Control of a vector's tiles, whose address names no version. */
export function vectorTileCacheControl(settings: Settings): string {
  return settings.currentCacheControl ?? CACHE_CONTROL
}

/**
 * Returns the refusal for a missing tile of a version. Within the zooms and bounds of its set it may be cached for MISSING_TILE_TTL, by the
 * same caches as its tiles.
 */
export function absentTile(settings: Settings, { version, place, cacheControl }: TileTarget): MissingTile {
  const { missingTileTtlSeconds: ttl } = settings
  if (isOutsideZooms(version, place.z)) return outsideZooms(version)
  if (ttl === 0 || /\bno-store\b/.test(cacheControl)) return TILE_NOT_FOUND
  const { bounds } = version.stored
  const isInside = bounds === null || tileTouches(matrixSetOf(version.stored), place, bounds)
  if (!isInside) return TILE_NOT_FOUND
  const value = `${/\bprivate\b/.test(cacheControl) ? 'private' : 'public'}, max-age=${ttl}`
  const known = missing.get(version)?.get(value)
  if (known !== undefined) return known
  const made = missingTile(
    NO_SUCH_TILE,
    ['Cache-Control', value],
    ['Vary', 'Authorization, X-Access-Token, Sec-Fetch-Dest, Sec-Fetch-Mode'],
    ...version.tags,
  )
  missing.set(version, new Map([...(missing.get(version) ?? []), [value, made]]))
  return made
}

/** Keyed by version, since the response contains the tags of its tiles, and by Cache-Control. */
const missing = new WeakMap<CatalogVersion, ReadonlyMap<string, MissingTile>>()

/** Prepares everything that responses with a loaded tile need. `HotTiles.keep` must retire the file of a large tile. */
export function prepareTile(target: TileTarget, tile: Tile, nowMs: number): CachedTile {
  const body = tile.body instanceof Uint8Array ? tile.body : new OpenFile(tile.body)
  return new CachedTile(body, tileAnswer(target, tile, tile.encoding === 'gzip'), target, nowMs)
}

/** Returns the headers of responses with a tile. */
export function tileAnswer(target: TileTarget, tile: Tile, gzip: boolean): TileAnswer {
  const packed = tile.encoding === 'gzip'
  const etag = tileEtag(tile.identity, packed && !gzip)
  const modified = new Date(tile.modifiedMs).toUTCString()
  const cacheControl = cacheControlFor(target.cacheControl, tile.currentForSeconds)
  return {
    etag,
    modifiedMs: tile.modifiedMs,
    gzip,
    ...tileHeaders(
      { version: target.version, cacheControl },
      {
        etag,
        modified,
        packed,
        gzip,
        type: CONTENT_TYPES[tile.format],
        stale: tile.isStale === true,
        leftOut: tile.leftOut,
      },
    ),
  }
}
