import { useLocalStorage } from '@mantine/hooks'
import { keepPreviousData, type QueryKey, queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useParameters } from '../ui/use-parameter.js'
import { type Call, type ItemOf, type List, type ListPath, listCall, type QueryOf, send } from './client.js'

/** A list of the service, which searches, filters, sorts and pages. `Q`: its parameters. */
export interface ListSource<T, Q = unknown> {
  /** first part of the keys of its queries */
  readonly key: string
  /** the parameters that narrow the list: each is honoured in the address of its page */
  readonly filters: readonly string[]
  read(query: Q): Call<List<T>>
}

/** The names of the parameters that narrow a list. */
export type FilterName<Q> = Exclude<keyof Q & string, 'q' | 'sort' | 'limit' | 'offset'>

/**
 * @param key first part of the keys of its queries
 * @param filters all filters of the service's list: the compiler names a missing one
 */
export function listOf<P extends ListPath>(
  key: string,
  path: P,
  filters: Readonly<Record<FilterName<QueryOf<P>>, true>>,
): ListSource<ItemOf<P>, QueryOf<P>> {
  return { key, filters: Object.keys(filters), read: (query) => listCall(path, query) }
}

/** Filter of failures that nobody has acknowledged. */
export const NOT_SEEN = { status: 'failed', acknowledged: 'false' } as const

/** Numbers of rows on a page that a person may choose from; the first one is the default. */
export const PAGE_SIZES = [25, 50, 100, 250] as const

/** The number of rows on a page of every list, which the browser remembers. */
export function usePageSize(): readonly [number, (size: number) => void] {
  const [kept, keep] = useLocalStorage<number>({
    key: 'list.page-size',
    defaultValue: PAGE_SIZES[0],
    getInitialValueInEffect: false,
  })
  return [PAGE_SIZES.find((size) => size === kept) ?? PAGE_SIZES[0], keep]
}

export function listQuery<T, Q>({ key, read }: Pick<ListSource<T, Q>, 'key' | 'read'>, query: Q) {
  const page = read(query)
  // Two lists of one kind, such as pushes of basemaps and of vectors, are different lists.
  const queryKey: QueryKey = [key, 'list', page.path]
  return queryOptions({ queryKey, queryFn: ({ signal }) => send(page, signal) })
}

/** The service's maximum number of items in one response. */
const MOST_AT_ONCE = 1_000

/** Reads at most `most` items that match a query, and their number. */
export async function readAll<T, Q>(
  { read }: Pick<ListSource<T, Q>, 'read'>,
  query: Q,
  most: number,
): Promise<List<T>> {
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
export function useList<T, Q>(source: ListSource<T, Q>, sortable: readonly string[], order: string | null = null) {
  const [parameters, set] = useParameters()
  const [pageSize, setPageSize] = usePageSize()
  const q = withoutSecret(parameters.get('q') ?? '')
  const asked = parameters.get('sort')
  // An old link may name a field that the service does not sort by.
  const chosen = asked !== null && sortable.includes(asked.replace(/^-/, '')) ? asked : null
  const sort = chosen ?? order
  const page = Math.max(1, Math.floor(Number(parameters.get('page'))) || 1)
  const filters = Object.fromEntries(source.filters.map((name) => [name, parameters.get(name)]))
  const asList = { limit: pageSize, q: q.trim(), sort, offset: (page - 1) * pageSize, ...filters }
  // The service may refuse a filter of an old link. The refusal is shown.
  const wanted = Object.fromEntries(Object.entries(asList).filter(([, value]) => value)) as Q
  const query = useQuery({ ...listQuery(source, wanted), placeholderData: keepPreviousData })
  const total = query.data?.total
  const pages = total === undefined ? page : Math.max(1, Math.ceil(total / pageSize))
  // Rows change by themselves: the page stays, unless it no longer exists.
  const isGone = page > pages && !query.isPlaceholderData
  useEffect(() => {
    if (isGone) set({ page: pages === 1 ? null : String(pages) })
  }, [isGone, pages, set])
  const isNarrowed = q !== '' || Object.values(filters).some((value) => value)
  const { limit: _, offset: __, ...matching } = wanted as Record<string, unknown>
  const { sort: ___, ...filter } = matching
  return { pageSize, setPageSize, query, q, chosen, sort, page, pages, filters, isNarrowed, set, matching, filter }
}
