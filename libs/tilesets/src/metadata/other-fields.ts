/** Read by name, or said of the set by the gateway itself: these reach TileJSON in another way, or not at all. */
const KNOWN = new Set([
  'tilejson',
  'name',
  'description',
  'attribution',
  'scheme',
  'tiles',
  'grids',
  'data',
  'minzoom',
  'maxzoom',
  'bounds',
  'center',
  'format',
  'tileSize',
  'vector_layers',
  'json',
  'tilestats',
  'crs',
  'srs',
  'profile',
  'tile_matrix_set',
])

/** Limit: characters of all other fields as JSON; they go into every TileJSON answer. */
const MAX_LENGTH = 16_384

/** Limit: nesting of a field. What goes on with it (this process, the store, TileJSON's readers) recurses, and ends where it is too deep. */
const MAX_DEPTH = 32

/** Names that mean something to JavaScript objects rather than to map clients. */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])

/** The fields of a set's metadata that are not read by name. What makes them too large is left out, with a warning. */
export function otherFields(
  fields: Readonly<Record<string, unknown>>,
  warnings: string[],
): Readonly<Record<string, unknown>> {
  const other: [string, unknown][] = []
  let length = 0
  for (const [name, value] of Object.entries(fields)) {
    if (KNOWN.has(name) || RESERVED.has(name) || value === undefined || value === null) continue
    if (isDeeper(value, MAX_DEPTH)) {
      warnings.push(`the field ${shownName(name)} is left out: it is nested deeper than ${MAX_DEPTH} levels`)
      continue
    }
    length += name.length + JSON.stringify(value).length
    if (length > MAX_LENGTH) {
      warnings.push(`fields beyond the known ones are left out from ${shownName(name)} on: they are too large`)
      break
    }
    other.push([name, value])
  }
  return Object.fromEntries(other)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

const shownName = (name: string) => JSON.stringify(name.slice(0, 80))
