import { CURRENT_VERSION, isVectorFormat } from '@gateway/contracts/basemap.js'
import type { AccessToken, WantedResource } from '@gateway/core/access/decide.js'
import type { Catalog, CatalogBasemap, CatalogVector } from '../sync/catalog.js'
import { type Layer, readableLayers } from './layer.js'

/** A group of the layers that GetMap draws. */
export interface LayerGroup {
  readonly title: string
  readonly layers: readonly Layer[]
}

/**
 * Returns the layers that can be drawn and that a token may read. Each kind of resource that is drawn from tiles of images has its group here, and
 * its names in `drawnNamed`. Vectors and styles have none while nothing draws them.
 */
export function drawnGroups(catalog: Catalog, token: AccessToken): readonly LayerGroup[] {
  return [{ title: 'Basemaps', layers: readableLayers(catalog, token).filter(isDrawn) }]
}

function isDrawn({ format }: Pick<Layer, 'format'>): boolean {
  return !isVectorFormat(format)
}

/** Returns the basemap from whose tiles a layer is drawn; null: no layer that is drawn has this name. */
export function drawnNamed({ basemaps }: Catalog, name: string): CatalogBasemap | null {
  const basemap = basemaps.get(name)
  const current = basemap?.versions.get(CURRENT_VERSION)
  return basemap !== undefined && current !== undefined && isDrawn(current.stored) ? basemap : null
}

/** Names a vector whose code a basemap has too. */
const VECTOR = 'vector:'

/** Returns the vector of a layer whose features are queried: basemaps have none, so its code is enough. */
export function vectorNamed({ vectors }: Catalog, name: string): CatalogVector | null {
  const vector = vectors.get(name.startsWith(VECTOR) ? name.slice(VECTOR.length) : name)
  return vector?.served ? vector : null
}

/** Returns the grant that a layer of a picture needs, even if it does not exist. */
export function wantedLayer(catalog: Catalog, name: string): NonNullable<WantedResource> {
  const basemap = catalog.basemaps.get(name)
  return basemap === undefined ? wantedVectorLayer(catalog, name) : basemap.wanted
}

/** Returns the grant that a layer needs whose features are queried. */
export function wantedVectorLayer(catalog: Catalog, name: string): NonNullable<WantedResource> {
  const code = name.startsWith(VECTOR) ? name.slice(VECTOR.length) : name
  return catalog.vectors.get(code)?.wanted ?? catalog.basemaps.get(name)?.wanted ?? { kind: 'basemap', code: name }
}
