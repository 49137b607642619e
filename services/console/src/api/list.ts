import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, type QueryKey, queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useParameters } from '../ui/use-parameter.js'
import { adminGet, type List } from './client.js'

/** A list of the service, which searches, filters, sorts and pages by itself. */
export interface ListSource {
  /** first part of the keys of its queries */
  readonly key: string
  /** after `/api/v1/admin` */
  readonly path: string
  /** how often it is read without an event; milliseconds */
  readonly refetchInterval?: number
}

/** What failed, and nobody has said that they have seen it. */
export const NOT_SEEN = { status: 'failed', acknowledged: 'false' }

/** Rows of a page. */
export const PAGE_SIZE = 25
/** After the last letter, before the service is asked. */
const SEARCH_AFTER_MS = 200

export interface ListRequest {
  readonly q?: string
  readonly sort?: string | null
  readonly limit: number
  readonly offset?: number
  /** by the names of the service's parameters; null and empty: not filtered */
  readonly filters?: Readonly<Record<string, string | null>>
}

export function listQuery<T>({ key, path, refetchInterval }: ListSource, request: ListRequest) {
  const { q = '', sort = null, limit, offset = 0, filters = {} } = request
  const parameters = new URLSearchParams({ limit: String(limit) })
  const optional = { q: withoutSecret(q.trim()), sort, offset: offset === 0 ? null : String(offset), ...filters }
  for (const [name, value] of Object.entries(optional)) if (value) parameters.set(name, value)
  const query = parameters.toString()
  // Two lists of one kind, such as pushes of basemaps and of vectors, are not the same list.
  const queryKey: QueryKey = [key, 'list', path, query]
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) => adminGet<List<T>>(`${path}?${query}`, signal),
    ...(refetchInterval !== undefined && { refetchInterval }),
  })
}

/** A token that somebody pastes whole is searched by its prefix: no address may hold a secret. */
export function withoutSecret(text: string): string {
  return text.startsWith('bmp_') ? text.slice(0, PREFIX_LENGTH) : text
}

const PREFIX_LENGTH = 12

/**
 * A page of a list, as the address of the page says: search, sorting, filters and page, where Back and shared links find them again.
 * @param order by which it is sorted unless the address says otherwise; null: as the service does
 */
export function useList<T>(
  source: ListSource,
  sortable: readonly string[],
  filterNames: readonly string[],
  order: string | null = null,
) {
  const [parameters, set] = useParameters()
  const q = withoutSecret(parameters.get('q') ?? '')
  const [settled] = useDebouncedValue(q, SEARCH_AFTER_MS)
  const asked = parameters.get('sort')
  // An old link may name what the service does not sort by.
  const chosen = asked !== null && sortable.includes(asked.replace(/^-/, '')) ? asked : null
  const sort = chosen ?? order
  const page = Math.max(1, Math.floor(Number(parameters.get('page'))) || 1)
  const filters = Object.fromEntries(filterNames.map((name) => [name, parameters.get(name)]))
  const request = { q: settled, sort, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE, filters }
  const query = useQuery({ ...listQuery<T>(source, request), placeholderData: keepPreviousData })
  const total = query.data?.total
  const pages = total === undefined ? page : Math.max(1, Math.ceil(total / PAGE_SIZE))
  // Rows come and go by themselves: the page stays where it is, unless it is gone.
  const isGone = page > pages && !query.isPlaceholderData
  useEffect(() => {
    if (isGone) set({ page: pages === 1 ? null : String(pages) })
  }, [isGone, pages, set])
  const isNarrowed = settled !== '' || Object.values(filters).some((value) => value)
  return { query, q, chosen, sort, page, pages, filters, isNarrowed, set }
}
