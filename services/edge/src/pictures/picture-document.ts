import type { VectorFacts } from '@gateway/contracts/vector.js'
import { type DrawnVector, vectorStyle } from '@gateway/styles/default-styles.js'
import { glyphTemplate, rewriteStyle } from '@gateway/styles/rewrite.js'
import type { StyleJson } from '@gateway/styles/style-json.js'
import { drawnLayers } from '../styles/drawn-layers.js'
import type { CatalogVector } from '../sync/catalog.js'
import type { DrawnStyle } from '../sync/drawn-styles.js'

/** The address of the edge in documents for the renderer, which puts the real one in its place. */
export const DRAWN_BASE = 'http://edge.invalid'

/** Parts of a style that move the map or bend the world, so that tiles would not fit together. */
const ONLY_IN_VIEWS = ['terrain', 'projection', 'sky', 'fog', 'center', 'zoom', 'bearing', 'pitch', 'roll']

/**
 * Returns the style that is drawn: with addresses for the renderer, and without transitions, for which a picture would wait.
 * @param isForTiles true: without what only a view of one place may have
 */
export function pictureDocument(style: DrawnStyle, fontRevision: string, isForTiles: boolean): string {
  const places = { styleBase: DRAWN_BASE, credential: '', fontRevision }
  const addresses = { code: style.code, tileBase: DRAWN_BASE, vectorBase: DRAWN_BASE, ...places }
  const document =
    style.kind === 'style'
      ? rewriteStyle(JSON.parse(style.of.stored.document), addresses)
      : vectorStyle(plain(style, glyphTemplate(places)), 'light')
  const layers = (Array.isArray(document.layers) ? document.layers : []).map(withoutFading)
  const drawn: Record<string, unknown> = { ...document, layers, transition: { duration: 0, delay: 0 } }
  if (isForTiles) for (const name of ONLY_IN_VIEWS) delete drawn[name]
  return JSON.stringify(drawn)
}

function plain({ code, of }: Extract<DrawnStyle, { kind: 'vector' }>, glyphs: string): DrawnVector {
  return drawnVector(of, { tileJsonUrl: `${DRAWN_BASE}/vectors/${encodeURIComponent(code)}/tilejson.json`, glyphs })
}

function withoutFading(layer: StyleJson): StyleJson {
  if (layer?.type !== 'raster') return layer
  return { ...layer, paint: { ...(layer.paint as object | undefined), 'raster-fade-duration': 0 } }
}

/** Returns what the plain style of a vector draws. */
function drawnVector(
  { stored, factsText, tiles: built }: CatalogVector,
  places: Pick<DrawnVector, 'tileJsonUrl' | 'glyphs'>,
): DrawnVector {
  const tiles = built?.versions.get(built.stored.defaultVersion ?? '')?.stored
  const facts = factsText === null ? null : (JSON.parse(factsText) as VectorFacts)
  const named = facts?.fields?.some((field) => field.name === 'name') ?? true
  // A vector whose tiles are not built yet has the layer of a file with a single one.
  const layers = tiles === undefined ? [{ id: stored.code, named }] : drawnLayers(tiles)
  return { name: stored.name, ...places, layers, bounds: facts?.bounds ?? tiles?.bounds ?? null }
}
