import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { MAX_ZOOM } from '@gateway/tilesets/address.js'
import { extensionsOf } from '@gateway/tilesets/formats.js'
import { matrixAt, type TileMatrixSet } from '@gateway/tilesets/tile-matrix-sets.js'
import type { CatalogBasemap, CatalogVersion } from '../sync/catalog.js'
import { type MissingTile, missingTile } from './refusals.js'

/** Limits of values in messages: characters of a name, and names of a list. */
const [MAX_NAME, MAX_NAMES] = [64, 10]
const NO_STORE = ['Cache-Control', 'no-store'] as const

/** Returns a name from the caller or the catalog in the form for messages. */
export function shownName(name: string): string {
  return JSON.stringify(name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`)
}

/**
 * Returns the reason why a basemap or version does not exist, for a caller who may read the basemap. `mayList` is true if
 * the caller may also see its versions.
 */
export function absentVersion(
  code: string,
  label: string | null,
  basemap: CatalogBasemap | undefined,
  mayList: boolean,
): string {
  if (basemap === undefined) {
    return `there is no basemap ${shownName(code)}; /api/v1/catalog/basemaps lists those that a token may read`
  }
  const { versions } = basemap
  const count = versions.has(CURRENT_VERSION) ? versions.size - 1 : versions.size
  if (count === 0) return `the basemap ${shownName(code)} has no version that is available`
  const lacks = `the basemap ${shownName(code)} has no version ${shownName(label ?? CURRENT_VERSION)}`
  if (!mayList) return lacks
  const first: string[] = []
  for (const one of versions.keys()) if (one !== CURRENT_VERSION && first.push(shownName(one)) === MAX_NAMES) break
  const more = count > first.length ? ` and ${count - first.length} more` : ''
  return `${lacks}; it has ${first.join(', ')}${more}`
}

/** How many columns and rows a zoom has: one answer for each grid and zoom. */
export function outsideGrid(set: TileMatrixSet, z: number): MissingTile {
  const zoom = Math.min(z, MAX_ZOOM + 1)
  return kept(gridReasons, `${set.id} ${zoom}`, () => {
    const matrix = matrixAt(set, zoom)
    if (matrix === null)
      return `there is no such tile: zooms go from 0 to ${(set.own?.matrices.length ?? MAX_ZOOM + 1) - 1}`
    const { columns, rows } = matrix
    return `there is no such tile: zoom ${zoom} of ${set.id} has columns 0 to ${columns - 1} and rows 0 to ${rows - 1}`
  })
}

export function outsideZooms(version: CatalogVersion): MissingTile {
  const { minZoom, maxZoom } = version.stored
  return keptOf(version, 'zooms', () => `there is no such tile: ${titleOf(version)} has zooms ${minZoom} to ${maxZoom}`)
}

export function isOutsideZooms({ stored }: CatalogVersion, z: number): boolean {
  return z < stored.minZoom || z > stored.maxZoom
}

export function wrongExtension(version: CatalogVersion): MissingTile {
  return keptOf(version, 'extension', () => {
    const extensions = extensionsOf(version.stored.format).map((extension) => `.${extension}`)
    return `there is no such tile: the tiles of ${titleOf(version)} are ${extensions.join(' or ')}`
  })
}

export function noRetina(version: CatalogVersion): MissingTile {
  return keptOf(version, 'retina', () => `there is no such tile: ${titleOf(version)} has no @2x tiles`)
}

/** The tiles of a vector have no version that a caller could name. */
function titleOf({ stored, usage }: CatalogVersion): string {
  return usage.startsWith('vector:') ? 'this vector' : `version ${shownName(stored.version)}`
}

const gridReasons = new Map<string, MissingTile>()
/** Keyed by version, since the messages contain its properties. */
const versionReasons = new WeakMap<CatalogVersion, Map<string, MissingTile>>()

function keptOf(version: CatalogVersion, name: string, word: () => string): MissingTile {
  const known = versionReasons.get(version) ?? new Map<string, MissingTile>()
  versionReasons.set(version, known)
  return kept(known, name, word)
}

function kept(known: Map<string, MissingTile>, key: string, word: () => string): MissingTile {
  const one = known.get(key) ?? missingTile(word(), NO_STORE)
  known.set(key, one)
  return one
}
