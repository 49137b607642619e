import type postgres from 'postgres'
import type { Queryable } from './connect.js'

/**
 * The fields by which a list can be searched, filtered and sorted. The SQL texts are constants of this program. Clients select among them by name,
 * and their values are parameters.
 */
export interface Listing<Filter extends string = string> {
  /** SQL expressions that `q` searches, named by the words of the API reference */
  readonly searched: Readonly<Record<string, string>>
  /** SQL expression of each field */
  readonly sortable: Readonly<Record<string, string>>
  /** fields that may be null: such rows come last, in both directions */
  readonly nullable?: readonly string[]
  /** default order, in the form of the `sort` parameter */
  readonly order: string
  /** unique field, so that pages neither repeat nor skip a row */
  readonly key: string
  /** SQL condition of each filter, in which `$` stands for the value */
  readonly filters: Readonly<Record<Filter, string>>
}

/** The condition of the filter `scan`: the items that a scan of their source found for the first time. */
export function foundBy(source: string, at: string): string {
  return `EXISTS (SELECT FROM scans c WHERE c.id = $ AND c.source_code = ${source} AND ${at} BETWEEN c.started_at AND coalesce(c.finished_at, 'infinity'))`
}

/** A page of a list. Every further field is the value of the filter of that name; undefined and null do not filter. */
export interface ListRequest {
  readonly q?: string | undefined
  /** a field, prefixed by `-` for descending order */
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
  /** condition for every row of the list */
  readonly where?: postgres.Fragment
  /** start of the page, for clients that page by id; has no effect on `total` */
  readonly beginning?: postgres.Fragment
}

export interface Listed<Row> {
  readonly items: Row[]
  /** number of rows on all pages */
  readonly total: number
}

/** Reads one page of the matching rows, without counting all. */
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
    ORDER BY ${exactFirst(sql, listing, request)} ${sql.unsafe(orderBy(listing, request.sort))} LIMIT ${limit ?? null}::bigint OFFSET ${offset}::bigint`
}

/** Reads one page of the matching rows, with the number of all. */
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

/** Keys of the rows that match a filter, at most `most`, and the number of matching rows. */
export interface Keys {
  readonly keys: readonly string[]
  readonly total: number
}

/** @param selection whose only column is named `key` */
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
  // Separated by line breaks, so that no match spans two of them.
  const text = sql.unsafe(`concat_ws(E'\\n', ${Object.values(searched).join(', ')})`)
  return sql`AND position(lower(${q}::text) in lower(${text})) > 0`
}

/** In the default order, rows whose code or name is the whole search text come first, because somebody who types a code wants its item. */
function exactFirst(sql: Queryable, { searched, order }: Listing, { q, sort = order }: ListRequest) {
  if (q === undefined || q === '' || sort !== order) return sql``
  const texts = sql.unsafe(
    Object.values(searched)
      .map((text) => `lower((${text})::text)`)
      .join(', '),
  )
  return sql`coalesce(lower(${q}::text) IN (${texts}), false) DESC,`
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

/** @throws RangeError for a field that the list cannot be sorted by; routes refuse it earlier */
export function orderBy({ sortable, nullable = [], order, key }: Listing, sort: string = order): string {
  const descending = sort.startsWith('-')
  const field = descending ? sort.slice(1) : sort
  const expression = Object.hasOwn(sortable, field) ? sortable[field] : undefined
  if (expression === undefined) throw new RangeError(`no field to sort by: ${field}`)
  const direction = descending ? 'DESC' : 'ASC'
  // Not for every field: an index of a column that is never null would not serve this order.
  const nulls = nullable.includes(field) ? ' NULLS LAST' : ''
  return `${expression} ${direction}${nulls}, ${key} ${direction}`
}
