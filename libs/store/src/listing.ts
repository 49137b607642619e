import type postgres from 'postgres'
import type { Queryable } from './connect.js'

/**
 * What a list can be searched, filtered and sorted by. The texts are SQL of this program; what a client sends selects among them by name,
 * and its values are parameters.
 */
export interface Listing<Filter extends string = string> {
  /** by the words of the API reference: the expressions in which `q` is searched */
  readonly searched: Readonly<Record<string, string>>
  /** field: expression */
  readonly sortable: Readonly<Record<string, string>>
  /** those of these fields that may be null: they come last, whatever the direction */
  readonly nullable?: readonly string[]
  /** the order where none is requested, as a client would write it */
  readonly order: string
  /** unique, so that pages neither repeat nor skip a row */
  readonly key: string
  /** name: a condition, in which `$` is the value */
  readonly filters: Readonly<Record<Filter, string>>
}

/** A page of a list. Every further field is the value of the filter of that name; undefined and null do not filter. */
export interface ListRequest {
  readonly q?: string | undefined
  /** a field, `-` before it for descending */
  readonly sort?: string | undefined
  /** undefined: all that follow */
  readonly limit?: number | undefined
  readonly offset?: number | undefined
  readonly [filter: string]: unknown
}

/** The statement that reads a list, without its conditions and order. */
export interface Selection {
  readonly columns: postgres.Fragment
  readonly from: postgres.Fragment
  /** holds for every row of the list, whatever is requested */
  readonly where?: postgres.Fragment
  /** where the page begins, for clients that follow ids; does not count in `total` */
  readonly beginning?: postgres.Fragment
}

export interface Listed<Row> {
  readonly items: Row[]
  /** of all pages */
  readonly total: number
}

/** One page of what matches, without counting what else does. */
export async function readRows<Row extends object>(
  sql: Queryable,
  listing: Listing,
  selection: Selection,
  request: ListRequest,
): Promise<Row[]> {
  const { columns, beginning } = selection
  const { limit, offset = 0 } = request
  return sql<Row[]>`
    SELECT ${columns} ${matching(sql, listing, selection, request)} ${beginning === undefined ? sql`` : sql`AND ${beginning}`}
    ORDER BY ${sql.unsafe(orderBy(listing, request.sort))} LIMIT ${limit ?? null}::bigint OFFSET ${offset}::bigint`
}

/** One page of what matches, and how many rows match. */
export async function readList<Row extends object>(
  sql: Queryable,
  listing: Listing,
  selection: Selection,
  request: ListRequest,
): Promise<Listed<Row>> {
  const { limit, offset = 0 } = request
  const { beginning } = selection
  const items = await readRows<Row>(sql, listing, selection, request)
  const isLastPage = limit === undefined || items.length < limit
  if (beginning === undefined && isLastPage && (offset === 0 || items.length > 0)) {
    return { items: [...items], total: offset + items.length }
  }
  const [count] = await sql<{ n: number }[]>`SELECT count(*) AS n ${matching(sql, listing, selection, request)}`
  return { items: [...items], total: count?.n ?? 0 }
}

/** What matches a filter by its keys, as far as `most` allows, and how many rows match. */
export interface Keys {
  readonly keys: readonly string[]
  readonly total: number
}

/** @param selection its only column is named `key` */
export async function readKeys(
  sql: Queryable,
  listing: Listing,
  selection: Selection,
  request: ListRequest,
  most: number,
): Promise<Keys> {
  const { items, total } = await readList<{ key: string }>(sql, listing, selection, { ...request, limit: most })
  return { keys: items.map(({ key }) => key), total }
}

function matching(sql: Queryable, listing: Listing, { from, where = sql`true` }: Selection, request: ListRequest) {
  return sql`FROM ${from} WHERE ${where} ${searchCondition(sql, listing, request.q)} ${filterConditions(sql, listing, request)}`
}

function searchCondition(sql: Queryable, { searched }: Listing, q: string | undefined): postgres.Fragment {
  if (q === undefined || q === '') return sql``
  // Lines apart, so that nothing matches across two of them.
  const text = sql.unsafe(`concat_ws(E'\\n', ${Object.values(searched).join(', ')})`)
  return sql`AND position(lower(${q}::text) in lower(${text})) > 0`
}

function filterConditions(sql: Queryable, { filters }: Listing, request: ListRequest): postgres.Fragment {
  let conditions = sql``
  for (const [name, condition] of Object.entries(filters)) {
    const value = request[name]
    if (value === undefined || value === null) continue
    const [first = '', ...others] = condition.split('$')
    conditions = sql`${conditions} AND (${sql.unsafe(first)}`
    for (const text of others) conditions = sql`${conditions}${value as string}${sql.unsafe(text)}`
    conditions = sql`${conditions})`
  }
  return conditions
}

/** @throws RangeError for a field that the list cannot be sorted by; routes refuse it before */
export function orderBy({ sortable, nullable = [], order, key }: Listing, sort: string = order): string {
  const descending = sort.startsWith('-')
  const field = descending ? sort.slice(1) : sort
  const expression = Object.hasOwn(sortable, field) ? sortable[field] : undefined
  if (expression === undefined) throw new RangeError(`no field to sort by: ${field}`)
  const direction = descending ? 'DESC' : 'ASC'
  // Not for every field: an index of a column that is never null does not serve this order.
  const nulls = nullable.includes(field) ? ' NULLS LAST' : ''
  return `${expression} ${direction}${nulls}, ${key} ${direction}`
}
