import { type Bounds, type VectorLayer, vectorLayerSchema, wrappedLongitudes } from '@gateway/contracts/basemap.js'
import { MAX_ZOOM } from '../address.js'

/** Maximum length of a name, description or attribution in characters; every TileJSON document contains them. */
const MAX_TEXT_LENGTH = 10_000

/** Maximum number of layers of a vector tile set; real sets have tens. */
const MAX_VECTOR_LAYERS = 1_000

const isSilent = (value: unknown) => value === undefined || value === null || value === ''

export function readText(field: string, value: unknown, warnings: string[]): string | null {
  if (isSilent(value)) return null
  if (typeof value === 'string' && value.length <= MAX_TEXT_LENGTH) return value.trim() === '' ? null : value.trim()
  warnings.push(`${field} is not a text of at most ${MAX_TEXT_LENGTH} characters`)
  return null
}

/** Parses a zoom level; 8.0 and "8" are 8. */
export function readZoom(field: string, value: unknown, warnings: string[]): number | null {
  if (isSilent(value)) return null
  const zoom = toNumber(value)
  if (Number.isInteger(zoom) && zoom >= 0 && zoom <= MAX_ZOOM) return zoom
  warnings.push(`${field} is not a whole number from 0 to ${MAX_ZOOM}`)
  return null
}

/** Parses west, south, east, north in degrees, wrapped and cut at the ends of the world. West greater than east means across the antimeridian. */
export function readBounds(value: unknown, warnings: string[]): Bounds | null {
  if (isSilent(value)) return null
  const parts = partsOf(value)
  const numbers = parts.map(toNumber)
  const isSwapped =
    numbers.every((n, i) => (i % 2 === 0 ? Math.abs(n) <= 90 : Math.abs(n) <= 180)) && isBeyondPoles(numbers)
  if (isSwapped)
    warnings.push('bounds have latitudes in the place of longitudes: they are read as south, west, north, east')
  const [west, south, east, north] = isSwapped ? [1, 0, 3, 2].map((i) => numbers[i]!) : numbers
  if (parts.length === 4 && [west, south, east, north].every(Number.isFinite) && south! <= north! && west !== east) {
    const [from, to] = wrappedLongitudes(west!, east!) ?? [clamp(west!, 180), clamp(east!, 180)]
    const bounds: Bounds = [from, clamp(south!, 90), to, clamp(north!, 90)]
    if (bounds[0] !== bounds[2] && bounds[1] !== bounds[3]) return bounds
  }
  warnings.push('bounds are not west, south, east, north in degrees')
  return null
}

/** Splits a list of numbers, or its text as in MBTiles, which some writers put in brackets. */
function partsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return typeof value === 'string'
    ? value
        .trim()
        .replace(/^\[(.*)\]$/, '$1')
        .split(',')
    : []
}

/** Degrees that a latitude may be too large by, because a writer added a margin. */
const LATITUDE_MARGIN = 10

function isBeyondPoles([, south, , north]: readonly number[]): boolean {
  return Math.max(Math.abs(south!), Math.abs(north!)) > 90 + LATITUDE_MARGIN
}

/** Longitude, latitude and zoom of the initial view of a map (MBTiles 1.3, TileJSON 3.0). */
export type Center = readonly [longitude: number, latitude: number, zoom: number]

/** Parses a list of numbers, or their text as in MBTiles. Other values are ignored without a warning, since the center is only a hint. */
export function readCenter(value: unknown): Center | null {
  const parts = partsOf(value)
  const [longitude, latitude, zoom] = parts.map(toNumber)
  if (parts.length !== 3 || !(Math.abs(longitude!) <= 180 && Math.abs(latitude!) <= 90 && zoom! >= 0)) return null
  return [longitude!, latitude!, Math.floor(zoom!)]
}

/** Parses the layers of a vector tile set (TileJSON 3.0, section 3.3). Leaves out entries without an id. */
export function readVectorLayers(value: unknown, warnings: string[]): VectorLayer[] | null {
  if (isSilent(value)) return null
  if (!Array.isArray(value)) {
    warnings.push('vector_layers is not a list')
    return null
  }
  const layers: VectorLayer[] = []
  for (const entry of value.slice(0, MAX_VECTOR_LAYERS)) {
    const layer = vectorLayerSchema.safeParse(withTextFields(entry))
    if (layer.success) layers.push(layer.data)
  }
  if (layers.length < value.length)
    warnings.push(`${value.length - layers.length} entries of vector_layers are not usable`)
  return layers
}

/** Fixes fields whose writers put values or null instead of the type's name that the standard requires. */
function withTextFields(entry: unknown): unknown {
  const fields: unknown = (entry as { fields?: unknown } | null)?.fields
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return entry
  const texts = Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? value : ''])
  return { ...(entry as object), fields: Object.fromEntries(texts) }
}

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

function clamp(degrees: number, limit: number): number {
  return Math.min(limit, Math.max(-limit, degrees))
}
