/** Fields that are read by name, or set by the gateway itself: they reach TileJSON in another way, or not at all. */
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

/** Maximum length of all other fields as JSON, in characters; every TileJSON document contains them. */
const MAX_LENGTH = 16_384

/** Maximum nesting of a field. Later users (this process, the store, readers of TileJSON) recurse, and would fail on deeper nesting. */
const MAX_DEPTH = 32

/** Names with a meaning for JavaScript objects. */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])

/** Returns the metadata fields that are not read by name. Leaves out fields above the limits, with a warning. */
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
