import { sentence } from '@gateway/contracts/messages.js'
import { z } from 'zod'

/** Maximum page size: a few hundred kilobytes of JSON and a few milliseconds of the database's time. */
const MAX_PAGE = 1000

/** Parses a whole number in a query string. */
export function wholeNumber(min: number, max: number) {
  return z.coerce.number().int().min(min).max(max)
}

/** Parses `true` or `false` in a query string. */
export const flag = z.enum(['true', 'false']).transform((word) => word === 'true')

/** The value of a filter. Postgres cannot store NUL, so no stored text contains it. */
export const text = z
  .string()
  .max(4096)
  .regex(/^[^\0]*$/, sentence('said.no_nul'))

/** The filter `scan`. */
export const FOUND_BY_SCAN = z.uuid().describe('id of a scan: only what it found for the first time')

/** The parts of a list that make up its query schema. */
interface Fields<Filter extends string> {
  /** named by the words of the API description */
  readonly searched: object
  readonly sortable: object
  readonly order: string
  readonly filters: Readonly<Record<Filter, unknown>>
}

/**
 * Builds the query schema of a list: `q`, `sort`, `limit`, `offset` and its filters, each with the form of its values. Any other parameter
 * returns 400, since a misspelt filter would list everything.
 *
 * @param whole number of items without `limit`; null: all of them
 */
export function listQuery<Filter extends string, Shape extends Record<Filter, z.ZodType>>(
  { searched, sortable, order }: Fields<Filter>,
  // Only filters that the list knows. Another one would be accepted and filter nothing.
  filters: Shape & Record<Exclude<keyof Shape, Filter>, never>,
  whole: number | null = MAX_PAGE,
) {
  const fields = Object.keys(sortable)
  const limit = wholeNumber(1, MAX_PAGE).describe(`maximum number of items in the response; default: ${whole ?? 'all'}`)
  return z.strictObject({
    q: text
      .max(200)
      .optional()
      .describe(
        `a part of one of these, case-insensitive: ${Object.keys(searched).join(', ')}; in the default order, items with the whole text come first`,
      ),
    sort: z
      .enum(fields.flatMap((field) => [field, `-${field}`]))
      .default(order)
      .describe('a field, with `-` before it for descending'),
    limit: (whole === null ? limit.optional() : limit.default(whole)) as z.ZodType<number | undefined>,
    offset: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0).describe('items skipped'),
    ...optional(filters),
  })
}

function optional<Shape extends Record<string, z.ZodType>>(shape: Shape) {
  const entries = Object.entries(shape).map(([name, schema]) => [name, schema.optional()])
  return Object.fromEntries(entries) as { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> }
}

/** A service token may be in the query of any request. The gates read it, and routes ignore it. */
const TOKEN_PARAMETERS: ReadonlySet<string> = new Set(['token', 'access_token'])

export function withoutTokens(query: unknown): unknown {
  if (typeof query !== 'object' || query === null) return query
  return Object.fromEntries(Object.entries(query).filter(([name]) => !TOKEN_PARAMETERS.has(name)))
}
