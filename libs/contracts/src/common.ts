import { z } from 'zod'
import { sentence } from './messages.js'

/** An ISO 8601 UTC timestamp, as every answer carries them. */
export const timestampSchema = z.iso.datetime().describe('ISO 8601 UTC timestamp')

/** The body of every error answer. */
export const errorSchema = z.object({ error: z.string() }).describe('Error')

/** List endpoints answer `{"items": [...], "total": n}`. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), total: z.int().min(0) })
}

/** Limit: the length of a code, name or label that a caller or a file name gives. */
export const MAX_LABEL_LENGTH = 200

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused
const PATH_SEGMENT = /^[^.*/\\\u0000-\u001f\u007f][^/\\\u0000-\u001f\u007f]*$/

/** A code that becomes one path segment: no slash, no control character, no leading dot; `*` is the wildcard of grants. */
export const codeSchema = z.string().min(1).max(MAX_LABEL_LENGTH).regex(PATH_SEGMENT, sentence('said.path_segment'))

/** A field that lists return and bodies may send back: it is accepted, so that a listed item can be posted, and ignored. */
export const asListedSchema = z.unknown().optional().describe('as listed; ignored')
