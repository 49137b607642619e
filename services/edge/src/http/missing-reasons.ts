import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { isUnpublished } from '@gateway/store/basemaps.js'
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
): CodedMessage {
  const name = shownName(code)
  if (basemap === undefined || isUnpublished(basemap.stored)) return coded('basemap_absent', { name })
  const { versions } = basemap
  const count = versions.has(CURRENT_VERSION) ? versions.size - 1 : versions.size
  if (count === 0) return coded('basemap_without_versions', { name })
  const asked = label ?? CURRENT_VERSION
  if (!mayList) return coded('version_absent', { name, version: shownName(asked) })
  // A default that an operator set stays the default while it is not available.
  const version = asked === CURRENT_VERSION ? (basemap.stored.defaultVersion ?? asked) : asked
  const lacks = { name, version: shownName(version) }
  const first: string[] = []
  for (const one of versions.keys()) if (one !== CURRENT_VERSION && first.push(shownName(one)) === MAX_NAMES) break
  const shown = { ...lacks, versions: first.join(', ') }
  return count > first.length
    ? coded('version_absent_of_many', { ...shown, more: count - first.length })
    : coded('version_absent_of', shown)
}

export function noVector(code: string): Refusal {
  return refuse('not_found', coded('vector_absent', { name: shownName(code) }))
}

/** How many columns and rows a zoom has: one answer for each grid and zoom. */
export function outsideGrid(set: TileMatrixSet, z: number): MissingTile {
  const zoom = Math.min(z, MAX_ZOOM + 1)
  return kept(gridReasons, `${set.id} ${zoom}`, () => {
    const matrix = matrixAt(set, zoom)
    if (matrix === null) return coded('tile_zooms_of_grid', { last: (set.own?.matrices.length ?? MAX_ZOOM + 1) - 1 })
    const { columns, rows } = matrix
    return coded('tile_outside_grid', { zoom, grid: set.id, column: columns - 1, row: rows - 1 })
  })
}

export function outsideZooms(version: CatalogVersion): MissingTile {
  const { minZoom, maxZoom } = version.stored
  const zooms = { zoom_min: minZoom, zoom_max: maxZoom }
  // The tiles of a vector or a style have no version that a caller could name.
  const isUnnamed = version.usage.startsWith('vector:') || version.usage === 'basemap:'
  const said = isUnnamed
    ? coded('tile_outside_vector_zooms', zooms)
    : coded('tile_outside_zooms', { version: labelOf(version), ...zooms })
  return keptOf(version, said)
}

export function isOutsideZooms({ stored }: CatalogVersion, z: number): boolean {
  return z < stored.minZoom || z > stored.maxZoom
}

export function wrongExtension(version: CatalogVersion): MissingTile {
  const { format, formats } = version.stored
  const [extension = '', other] = (formats ?? [format]).flatMap(extensionsOf).map((one) => `.${one}`)
  const said = { version: labelOf(version), extension }
  return keptOf(
    version,
    other === undefined ? coded('tile_extension', said) : coded('tile_extensions', { ...said, other }),
  )
}

export function noRetina(version: CatalogVersion): MissingTile {
  return keptOf(version, coded('tile_no_retina', { version: labelOf(version) }))
}

function labelOf({ stored }: CatalogVersion): string {
  return shownName(stored.version)
}

const gridReasons = new Map<string, MissingTile>()
/** Keyed by version, since the messages contain its properties. */
const versionReasons = new WeakMap<CatalogVersion, Map<string, MissingTile>>()

function keptOf(version: CatalogVersion, said: CodedMessage): MissingTile {
  const known = versionReasons.get(version) ?? new Map<string, MissingTile>()
  versionReasons.set(version, known)
  return kept(known, said.code, () => said)
}

function kept(known: Map<string, MissingTile>, key: string, say: () => CodedMessage): MissingTile {
  const one = known.get(key) ?? missingTile(say(), NO_STORE)
  known.set(key, one)
  return one
}
