import type { Bounds } from '@gateway/contracts/basemap.js'
import {
  GEOMETRY_TYPES,
  type GeometryType,
  UNKNOWN_FACTS,
  type VectorFacts,
  type VectorField,
} from '@gateway/contracts/vector.js'
import { boundsAround } from '@gateway/tilesets/area.js'
import { MAX_FIELDS, MAX_NAME } from './limits.js'

/** One layer of a file; null fields are unknown. */
export interface Layer {
  readonly crs: string | null
  readonly bounds: Bounds | null
  readonly geometryType: GeometryType | null
  readonly count: number | null
  readonly fields: readonly VectorField[] | null
}

/** Returns the facts that hold for all layers together; none for `layers` null. */
export function factsOfLayers(layers: readonly Layer[] | null): Omit<VectorFacts, 'encoding' | 'encoding_source'> {
  if (layers === null) return UNKNOWN_FACTS
  const systems = new Set(layers.map(({ crs }) => crs))
  const count = layers.reduce<number | null>(
    (sum, { count }) => (sum === null || count === null ? null : sum + count),
    0,
  )
  return {
    crs: systems.size === 1 ? ([...systems][0] as string | null) : null,
    bounds: boundsAround(layers.filter(({ count }) => count !== 0).map(({ bounds }) => bounds)),
    geometry_type: geometryTypeOf(new Set(layers.flatMap(({ geometryType }) => geometryType ?? []))),
    feature_count: Number.isSafeInteger(count) ? count : null,
    fields: joined(layers.map(({ fields }) => fields)),
  }
}

/** Returns the one type that covers all, `Geometry` if none does, or null without types. */
export function geometryTypeOf(types: ReadonlySet<GeometryType>): GeometryType | null {
  const [shorter, longer] = [...types].sort((a, b) => a.length - b.length)
  if (shorter === undefined || longer === undefined) return shorter ?? null
  return types.size === 2 && longer === `Multi${shorter}` ? longer : 'Geometry'
}

/** Finds a type by name, in any case; `Geometry` for curves and surfaces. */
export function geometryTypeNamed(name: string): GeometryType {
  return GEOMETRY_TYPES.find((type) => type.toLowerCase() === name.toLowerCase()) ?? 'Geometry'
}

function joined(all: readonly (readonly VectorField[] | null)[]): VectorField[] | null {
  const fields = new Map<string, VectorField>()
  for (const { name: whole, type } of all.flatMap((some) => some ?? [])) {
    const name = whole.slice(0, MAX_NAME)
    const known = fields.get(name)
    fields.set(name, { name, type: known === undefined || known.type === type ? type : 'json' })
  }
  return all.includes(null) || fields.size > MAX_FIELDS ? null : [...fields.values()]
}
