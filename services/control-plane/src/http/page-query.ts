import { z } from 'zod'

/** A page of this size is some hundred kilobytes of JSON and milliseconds of the database's time. */
const MAX_PAGE = 1000
const DEFAULT_PAGE = 500

/** A whole number as it stands in a query string. */
export function wholeNumber(min: number, max: number) {
  return z.coerce.number().int().min(min).max(max)
}

/** `?limit&offset` of lists that grow without bound. */
export const pageQuery = z.object({
  limit: wholeNumber(1, MAX_PAGE).default(DEFAULT_PAGE).describe('items answered at most'),
  offset: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0).describe('items skipped'),
})
