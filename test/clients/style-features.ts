interface Asking {
  readonly 'source-layer'?: string
  readonly type?: string
  readonly filter?: unknown
}

/** In Latin, Chinese, Arabic and Devanagari. */
const NAMES = ['Grünstadt', '南京市', 'القاهرة', 'दिल्ली'] as const
const SHAPES: Readonly<Record<string, string>> = { symbol: 'Point', circle: 'Point', line: 'LineString' }

/**
 * Invents features around a place for the layers of a style: for each layer that draws vectors, one of each size, with the values for which its filter asks
 * and a name. Answers them by the layer of their tiles.
 */
export function drawnFeatures(layers: readonly Asking[], center: readonly [number, number]): Map<string, object[]> {
  const found = new Map<string, object[]>()
  for (const [order, layer] of layers.entries()) {
    const name = layer['source-layer']
    if (name === undefined) continue
    const features = found.get(name) ?? []
    found.set(name, features)
    for (const degrees of [3, 0.2, 0.012]) features.push(feature(layer, order, center, degrees))
  }
  return found
}

/** Places that differ by layer, within `degrees` of the centre. */
function feature(layer: Asking, order: number, [lon, lat]: readonly [number, number], degrees: number): object {
  const angle = order * 2.4
  const distance = degrees * (0.15 + 0.75 * ((order * 0.618) % 1))
  const [x, y] = [lon + distance * Math.cos(angle), lat + distance * 0.6 * Math.sin(angle)]
  const size = degrees / 8
  const ring = [[x, y], [x + size, y], [x + size, y + size], [x, y + size], [x, y]] // biome-ignore format: a ring
  const type = SHAPES[layer.type ?? ''] ?? 'Polygon'
  const coordinates = { Point: [x, y], LineString: [[x, y], [x + size * 3, y + size]], Polygon: [ring] }[type] // biome-ignore format: shapes
  const label = NAMES[order % NAMES.length]
  const properties = {
    name: label,
    name_en: label,
    'name:latin': label,
    'name:nonlatin': '',
    ref: 'A 7',
    ref_length: 3,
    rank: 2,
  }
  return { type: 'Feature', properties: { ...properties, ...asked(layer.filter) }, geometry: { type, coordinates } }
}

/** Values with which a filter lets a feature pass, as far as it compares by `==` and `in`, in the old and the new form. */
function asked(filter: unknown): Record<string, unknown> {
  if (!Array.isArray(filter)) return {}
  const [operator, property, value] = filter as [string, unknown, unknown]
  if (operator === 'all' || operator === 'any')
    return Object.assign({}, ...filter.slice(1).map((part) => asked(part))) as Record<string, unknown>
  const key = Array.isArray(property) && property[0] === 'get' ? property[1] : property
  if (typeof key !== 'string' || key.startsWith('$')) return {}
  const one = Array.isArray(value) ? [value.flat()].flat().find((item) => item !== 'literal') : value
  if (operator === '==' || operator === 'in' || operator === '>=') return { [key]: one }
  return {}
}
