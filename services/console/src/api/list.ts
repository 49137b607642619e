import { keepPreviousData, type QueryKey, queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useParameters } from '../ui/use-parameter.js'
import { type Answer, type Call, type List, type ListPath, listCall, type QueryOf, send } from './client.js'

/** A list of the service, which searches, filters, sorts and pages. `Q`: its parameters. */
export interface ListSource<T, Q = unknown> {
  /** first part of the keys of its queries */
  readonly key: string
  read(query: Q): Call<List<T>>
}

/** @param key first part of the keys of its queries */
export function listOf<P extends ListPath>(
  key: string,
  path: P,
): ListSource<Answer<'get', P>['items'][number], QueryOf<P>> {
  return { key, read: (query) => listCall(path, query) }
}

/** Filter of failures that nobody has acknowledged. */
export const NOT_SEEN = { status: 'failed', acknowledged: 'false' } as const

/** Number of rows on a page. */
export const PAGE_SIZE = 25

export function listQuery<T, Q>({ key, read }: ListSource<T, Q>, query: Q) {
  const page = read(query)
  // Two lists of one kind, such as pushes of basemaps and of vectors, are different lists.
  const queryKey: QueryKey = [key, 'list', page.path]
  return queryOptions({ queryKey, queryFn: ({ signal }) => send(page, signal) })
}

/** The service's maximum number of items in one response. */
const MOST_AT_ONCE = 1_000

/** Reads at most `most` items that match a query, and their number. */
export async function readAll<T, Q>({ read }: ListSource<T, Q>, query: Q, most: number): Promise<List<T>> {
  const items: T[] = []
  for (;;) {
    const answer = await send(read({ ...query, limit: MOST_AT_ONCE, offset: items.length }))
    items.push(...answer.items)
    if (answer.items.length < MOST_AT_ONCE || items.length >= most)
      return { items: items.slice(0, most), total: answer.total }
  }
}

/** Cuts a pasted token to its prefix for a search, since no URL may contain a secret. */
export function withoutSecret(text: string): string {
  return text.startsWith('bmp_') ? text.slice(0, PREFIX_LENGTH) : text
}

const PREFIX_LENGTH = 12

/**
 * A page of a list. The URL contains search, sorting, filters and page, so that Back and shared links restore them.
 * @param order default sorting; null: that of the service
 */
export function useList<T, Q>(
  source: ListSource<T, Q>,
  sortable: readonly string[],
  filterNames: readonly (keyof Q & string)[],
  order: string | null = null,
) {
  const [parameters, set] = useParameters()
  const q = withoutSecret(parameters.get('q') ?? '')
  const asked = parameters.get('sort')
  // An old link may name a field that the service does not sort by.
  const chosen = asked !== null && sortable.includes(asked.replace(/^-/, '')) ? asked : null
  const sort = chosen ?? order
  const page = Math.max(1, Math.floor(Number(parameters.get('page'))) || 1)
  const filters = Object.fromEntries(filterNames.map((name) => [name, parameters.get(name)]))
  const asList = { limit: PAGE_SIZE, q: q.trim(), sort, offset: (page - 1) * PAGE_SIZE, ...filters }
  // The service may refuse a filter of an old link. The refusal is shown.
  const wanted = Object.fromEntries(Object.entries(asList).filter(([, value]) => value)) as Q
  const query = useQuery({ ...listQuery(source, wanted), placeholderData: keepPreviousData })
  const total = query.data?.total
  const pages = total === undefined ? page : Math.max(1, Math.ceil(total / PAGE_SIZE))
  // Rows change by themselves: the page stays, unless it no longer exists.
  const isGone = page > pages && !query.isPlaceholderData
  useEffect(() => {
    if (isGone) set({ page: pages === 1 ? null : String(pages) })
  }, [isGone, pages, set])
  const isNarrowed = q !== '' || Object.values(filters).some((value) => value)
  const { limit: _, offset: __, ...matching } = wanted as Record<string, unknown>
  const { sort: ___, ...filter } = matching
  return { query, q, chosen, sort, page, pages, filters, isNarrowed, set, matching, filter }
}
