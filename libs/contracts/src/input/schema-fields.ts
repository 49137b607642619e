import { z } from 'zod'

/** Returns the schemas inside wrappers: a default, optional or transformed schema has the fields of its inner schema. */
export function alternativesOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { def } = schema._zod as unknown as { def: { type: string } & Partial<Wrapper> }
  if (def.type === 'union') return (def.options ?? []).flatMap(alternativesOf)
  if (def.type === 'pipe') return def.in === undefined ? [] : alternativesOf(def.in)
  if (def.type === 'lazy') return def.getter === undefined ? [] : alternativesOf(def.getter())
  return def.innerType === undefined ? [schema] : alternativesOf(def.innerType)
}

interface Wrapper {
  readonly innerType: z.core.$ZodType
  readonly in: z.core.$ZodType
  readonly options: readonly z.core.$ZodType[]
  readonly getter: () => z.core.$ZodType
}

/** Returns the schemas at a path of the input. */
export function schemasAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType[] {
  let schemas = alternativesOf(schema)
  for (const step of path) schemas = schemas.flatMap((one) => membersOf(one, step)).flatMap(alternativesOf)
  return schemas
}

/** Returns the fields of the object at a path. */
export function fieldsAt(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
): Readonly<Record<string, z.core.$ZodType>> {
  return Object.assign({}, ...schemasAt(schema, path).map((one) => (one instanceof z.ZodObject ? one.shape : {})))
}

function membersOf(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) {
    const member = schema.shape[step as string]
    return member === undefined ? [] : [member]
  }
  if (schema instanceof z.ZodArray) return [schema.element]
  if (schema instanceof z.ZodRecord) return [schema.valueType]
  if (schema instanceof z.ZodTuple) return [schema.def.items[Number(step)]].filter((one) => one !== undefined)
  return []
}
