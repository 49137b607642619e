import { z } from 'zod'
import { wholeNumber } from '../http/page-query.js'

/** `?q&limit&offset` of the catalog's lists. Without a limit they are answered whole: the catalog is in memory anyway. */
export function searchQuery(searched: string) {
  return z.object({
    q: z.string().max(200).optional().describe(`a part of a ${searched}, in any case`),
    limit: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('items answered at most; default: all'),
    offset: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0).describe('items skipped'),
  })
}

type Search = z.output<ReturnType<typeof searchQuery>>

/** The page of what matches; `total` counts all that matches. */
export function search<T>(
  items: readonly T[],
  { q, limit, offset }: Search,
  textsOf: (item: T) => readonly string[],
): { page: T[]; total: number } {
  const wanted = q?.toLowerCase() ?? ''
  const matching = items.filter((item) => textsOf(item).some((text) => text.toLowerCase().includes(wanted)))
  return { page: matching.slice(offset, limit === undefined ? undefined : offset + limit), total: matching.length }
}
