import { z } from 'zod'
import { newVersionSchema } from './basemap.js'
import { codeSchema } from './common.js'
import { warningsField } from './warning.js'

/** An upload that has begun. */
export const uploadSchema = z.object({
  id: z.uuid(),
  received: z.int().min(0).describe('bytes received so far; the next part begins here'),
})

const file = {
  file: z.string().min(1).max(255).describe('name of the file; its extension names the format'),
  bytes: z.int().min(1).describe('size of the complete file'),
}
/** The body that imports a complete upload. */
export const uploadBodySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('basemap'), ...file, code: codeSchema, version: newVersionSchema }),
  z.strictObject({ kind: z.literal('vector'), ...file, code: codeSchema.describe('name of the stored file') }),
  z.strictObject({
    kind: z.literal('style'),
    ...file,
    code: codeSchema.optional().describe('required for a style document; of a zip, the default is its folder'),
  }),
])

/** The response to an import. */
export const uploadedSchema = z.object({
  kind: z.enum(['basemap', 'vector', 'style']),
  code: z.string().describe('code under which it is served'),
  version: z.string().nullable().describe('null unless it is a basemap'),
  ...warningsField,
})
