import { type Bounds, CURRENT_VERSION, isVectorFormat } from '@gateway/contracts/basemap.js'
import type { AccessToken, WantedResource } from '@gateway/core/access/decide.js'
import { commonBounds } from '@gateway/tilesets/area.js'
import type { Catalog, CatalogBasemap, CatalogVector, CatalogVersion } from '../sync/catalog.js'
import { drawnStyle, pictureTiles } from '../sync/drawn-styles.js'
import { type Layer, layerOfVector, readableLayers, readablePictures } from './layer.js'

/** A group of the layers that GetMap draws. */
export interface LayerGroup {
  readonly title: string
  readonly layers: readonly Layer[]
}

/** Returns the layers that can be drawn and that a token may read. `draws`: this edge draws styles, and the plain styles of vectors. */
export function drawnGroups(catalog: Catalog, token: AccessToken, draws: boolean): readonly LayerGroup[] {
  const basemaps = readableLayers(catalog, token).filter(({ format }) => !isVectorFormat(format))
  if (!draws) return [{ title: 'Basemaps', layers: basemaps }]
  const pictures = readablePictures(catalog, token)
  return [
    { title: 'Basemaps', layers: basemaps },
    { title: 'Styles', layers: pictures.filter(({ drawn }) => drawn?.kind === 'style') },
    { title: 'Vectors', layers: pictures.filter((one) => one.drawn?.kind === 'vector' && isInArea(one)) },
  ]
}

/** Returns the bounds of a vector's features for its plain style, whose pictures reach around the world; null: not known, or another layer. */
function featureBounds({ drawn }: Layer): Bounds | null {
  return drawn?.kind === 'vector' ? (layerOfVector(drawn.of)?.bounds ?? null) : null
}

function isInArea(layer: Layer): boolean {
  const own = featureBounds(layer)
  return own === null || layer.bounds === null || commonBounds(layer.bounds, own) !== null
}

/** Returns the bounds in which a layer shows something; null: in the whole world. */
export function shownBounds(layer: Layer): Bounds | null {
  const own = featureBounds(layer)
  if (own === null || layer.bounds === null) return own ?? layer.bounds
  return commonBounds(layer.bounds, own)
}

/** A layer of a picture, with the version that is shown if no time is named. */
export interface DrawnBasemap {
  readonly basemap: CatalogBasemap
  readonly current: CatalogVersion
}

/** Returns the tiles from which a layer is drawn; null: no layer that is drawn has this name. */
export function drawnNamed(catalog: Catalog, name: string, draws: boolean): DrawnBasemap | null {
  const basemap = catalog.basemaps.get(name)
  if (basemap === undefined) return draws ? picturesNamed(catalog, name) : null
  const current = basemap.versions.get(CURRENT_VERSION)
  return current === undefined || isVectorFormat(current.stored.format) ? null : { basemap, current }
}

function picturesNamed(catalog: Catalog, name: string): DrawnBasemap | null {
  const style = drawnStyle(catalog, name)
  if (style === null) return null
  const basemap = pictureTiles(style, { format: 'png', tileSize: 512, ratio: 1 })
  const [current] = basemap.versions.values()
  return current === undefined ? null : { basemap, current }
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
  const wanted = catalog.basemaps.get(name)?.wanted ?? drawnStyle(catalog, name)?.wanted
  return wanted ?? wantedVectorLayer(catalog, name)
}

/** Returns the grant that a layer needs whose features are queried. */
export function wantedVectorLayer(catalog: Catalog, name: string): NonNullable<WantedResource> {
  const code = name.startsWith(VECTOR) ? name.slice(VECTOR.length) : name
  return catalog.vectors.get(code)?.wanted ?? catalog.basemaps.get(name)?.wanted ?? { kind: 'basemap', code: name }
}
