/** A map of the preview, and how it is drawn. */
export interface ShownLayer {
  readonly kind: 'basemap' | 'vector'
  readonly code: string
  /** of a basemap; empty: the default one */
  readonly version: string
  /** percent */
  readonly opacity: number
}

/** Limit: layers of one map; each has a source, and a source has its own requests. */
export const MAX_LAYERS = 8

/** For the URL: the lowest layer first, each `kind/code/version/opacity`. */
export function layersText(layers: readonly ShownLayer[]): string | null {
  if (layers.length === 0) return null
  return layers
    .map(({ kind, code, version, opacity }) => [kind, code, version, String(opacity)].map(encodeURIComponent).join('/'))
    .join(',')
}

/** Skips texts that name no layer, a second layer of the same map, and layers beyond the limit. */
export function parseLayers(text: string | null): readonly ShownLayer[] {
  const layers = (text ?? '').split(',').flatMap((one) => parseLayer(one) ?? [])
  const keys = layers.map(keyOf)
  return layers.filter((_, i) => keys.indexOf(keys[i] as string) === i).slice(0, MAX_LAYERS)
}

function parseLayer(text: string): ShownLayer | null {
  try {
    const [kind = '', code = '', version = '', opacity = ''] = text.split('/').map(decodeURIComponent)
    const percent = opacity === '' ? 100 : Number(opacity)
    if ((kind !== 'basemap' && kind !== 'vector') || code === '' || !(percent >= 0 && percent <= 100)) return null
    return { kind, code, version: kind === 'basemap' ? version : '', opacity: Math.round(percent) }
  } catch {
    return null
  }
}

export function keyOf({ kind, code, version }: ShownLayer): string {
  return `${kind}/${code}/${version}`
}
