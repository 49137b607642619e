import type { Token } from '@gateway/contracts/token.js'
import type { Texts } from '../../texts/en.js'

/** Number of names in a line; larger numbers of maps are only counted. */
const NAMED = 1

/** Describes the maps that a token may read and slice. @param named maximum number of names of a kind; larger numbers are only counted */
export function grantsText(
  token: Pick<Token, 'basemap_codes' | 'vector_codes' | 'layer_codes' | 'scopes'>,
  t: Texts['tokens'],
  named: number = NAMED,
): string {
  const { basemap_codes: basemaps, vector_codes: vectors, layer_codes: layers, scopes } = token
  const readsAll = basemaps.includes(GRANT_ALL) && vectors.includes(GRANT_ALL)
  const sliced = scopes.includes('slice') ? part(layers, t.allLayers, t.layerCount, named) : ''
  const parts = [
    ...(readsAll
      ? [t.everything]
      : [part(basemaps, t.allBasemaps, t.basemapCount, named), part(vectors, t.allVectors, t.vectorCount, named)]),
    sliced === '' ? '' : t.slices(sliced),
  ].filter((text) => text !== '')
  return parts.length === 0 ? t.nothing : parts.join(', ')
}

function part(codes: readonly string[], all: string, count: (n: number) => string, named: number): string {
  if (codes.includes(GRANT_ALL)) return all
  return codes.length > named ? count(codes.length) : codes.join(', ')
}

/** The entry that grants all present and future maps. Copied from the contracts to keep their code out of the console's bundle. */
export const GRANT_ALL = '*'
