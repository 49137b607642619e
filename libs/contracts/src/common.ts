import { z } from 'zod'
import { wrongInCode } from './codes.js'
import { sentence } from './messages.js'

/** An ISO 8601 UTC timestamp, the form of all responses. */
export const timestampSchema = z.iso.datetime().describe('ISO 8601 UTC timestamp')

/** The body of every error response. */
export const errorSchema = z.object({ error: z.string() }).describe('Error')

/** List endpoints return `{"items": [...], "total": n}`. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), total: z.int().min(0) })
}

/** Maximum length of a code, name or label from a caller or a file name. */
export const MAX_LABEL_LENGTH = 200

/** A code that becomes one path segment: no slash, no control character, no leading dot. `*` is the wildcard of grants. */
export const codeSchema = z
  .string()
  .min(1)
  .max(MAX_LABEL_LENGTH)
  .refine((code) => wrongInCode(code) === null, sentence('said.path_segment'))

/** A field of listed items that bodies may send back, so that a listed item can be posted. It is ignored. */
export const asListedSchema = z.unknown().optional().describe('as listed; ignored')
