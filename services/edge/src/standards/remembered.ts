import type { Addresses, Layer } from './layer.js'

/** How many parts of documents were made since the start: of a catalog that stands still, none is made twice. */
export const partsMade = { count: 0 }

/**
 * What a document says of one layer, made once for each layer and form of addresses. A layer is as immutable as the basemap that it is of: a
 * changed one is another object.
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

/** What a document says of each layer, one after the other. */
export function* itemsOf<Part>(
  layers: Iterable<Layer>,
  itemOf: (layer: Layer, addresses: Addresses) => Part,
  addresses: Addresses,
): Iterable<Part> {
  for (const layer of layers) yield itemOf(layer, addresses)
}

/** `before` as JSON with one member more, `name`, which is a list of items that are JSON already. */
export function* jsonPieces(before: object, name: string, items: Iterable<string>): Iterable<string> {
  yield `${JSON.stringify(before).slice(0, -1)},${JSON.stringify(name)}:[`
  let separator = ''
  for (const item of items) {
    yield `${separator}${item}`
    separator = ','
  }
  yield ']}'
}
