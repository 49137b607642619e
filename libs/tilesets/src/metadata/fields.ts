import { type Bounds, type VectorLayer, vectorLayerSchema } from '@gateway/contracts/basemap.js'
import { MAX_ZOOM } from '../address.js'

/** Limit: characters of a name, description or attribution; they go into every TileJSON answer. */
const MAX_TEXT_LENGTH = 10_000

/** Limit: layers of a vector tile set; real ones have tens. */
const MAX_VECTOR_LAYERS = 1_000

const isSilent = (value: unknown) => value === undefined || value === null || value === ''

export function readText(field: string, value: unknown, warnings: string[]): string | null {
  if (isSilent(value)) return null
  if (typeof value === 'string' && value.length <= MAX_TEXT_LENGTH) return value.trim() === '' ? null : value.trim()
  warnings.push(`${field} is not a text of at most ${MAX_TEXT_LENGTH} characters`)
  return null
}

/** A zoom level; 8.0 and "8" are 8. */
export function readZoom(field: string, value: unknown, warnings: string[]): number | null {
  if (isSilent(value)) return null
  const zoom = toNumber(value)
  if (Number.isInteger(zoom) && zoom >= 0 && zoom <= MAX_ZOOM) return zoom
  warnings.push(`${field} is not a whole number from 0 to ${MAX_ZOOM}`)
  return null
}

/** West, south, east, north in degrees; what lies beyond the world is cut off. West above east means across the antimeridian. */
export function readBounds(value: unknown, warnings: string[]): Bounds | null {
  if (isSilent(value)) return null
  const parts: unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []
  const [west, south, east, north] = parts.map(toNumber)
  if (parts.length === 4 && [west, south, east, north].every(Number.isFinite) && south! <= north! && west !== east) {
    const bounds: Bounds = [clamp(west!, 180), clamp(south!, 90), clamp(east!, 180), clamp(north!, 90)]
    if (bounds[0] !== bounds[2] && bounds[1] !== bounds[3]) return bounds
  }
  warnings.push('bounds are not west, south, east, north in degrees')
  return null
}

/** Longitude, latitude and zoom at which a map of the set is to be opened (MBTiles 1.3, TileJSON 3.0). */
export type Center = readonly [longitude: number, latitude: number, zoom: number]

/** A list of numbers, or their text as MBTiles has it. Anything else says nothing: it is a hint. */
export function readCenter(value: unknown): Center | null {
  const parts: unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []
  const [longitude, latitude, zoom] = parts.map(toNumber)
  if (parts.length !== 3 || !(Math.abs(longitude!) <= 180 && Math.abs(latitude!) <= 90 && zoom! >= 0)) return null
  return [longitude!, latitude!, Math.floor(zoom!)]
}

/** TileJSON 3.0, 3.3: the layers of a vector tile set. Entries without an id are left out. */
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

/** Some writers put a field's values or null where the standard wants the name of its type. */
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
