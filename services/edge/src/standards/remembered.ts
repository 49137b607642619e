import type { Addresses, Layer } from './layer.js'

/** Number of parts of documents made since the start: while a catalog does not change, no part is made twice. */
export const partsMade = { count: 0 }

/**
 * Returns a function that makes the part of a document about one layer, and caches it for each layer and form of addresses. A layer is as
 * immutable as its basemap: a changed layer is another object.
 */
export function remembered<Part, Of extends object = Layer>(
  make: (layer: Of, addresses: Addresses) => Part,
): (layer: Of, addresses: Addresses) => Part {
  const known = new WeakMap<Of, WeakMap<Addresses, Part>>()
  return (layer, addresses) => {
    let forms = known.get(layer)
    if (forms === undefined) {
      forms = new WeakMap()
      known.set(layer, forms)
    }
    const before = forms.get(addresses)
    if (before !== undefined) return before
    const made = make(layer, addresses)
    partsMade.count++
    forms.set(addresses, made)
    return made
  }
}

/** Returns the part of a document about each layer, in order. */
export function* itemsOf<Part>(
  layers: Iterable<Layer>,
  itemOf: (layer: Layer, addresses: Addresses) => Part,
  addresses: Addresses,
): Iterable<Part> {
  for (const layer of layers) yield itemOf(layer, addresses)
}

/** Returns `before` as JSON with an additional member `name`: a list of items that are already JSON. */
export function* jsonPieces(before: object, name: string, items: Iterable<string>): Iterable<string> {
  yield `${JSON.stringify(before).slice(0, -1)},${JSON.stringify(name)}:[`
  let separator = ''
  for (const item of items) {
    yield `${separator}${item}`
    separator = ','
  }
  yield ']}'
}
