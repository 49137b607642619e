import { z } from 'zod'
import { withdrawableFields, withdrawnSchema } from './basemap.js'
import { timestampSchema } from './common.js'
import { messageFields } from './messages.js'

/** Maximum number of kept documents of a style, including the current one. */
export const MAX_KEPT_REVISIONS = 20

/** A source of a style that the gateway serves. A reader of the style needs its grants. */
export const styleSourceSchema = z.object({
  name: z.string().describe('the name in the style'),
  kind: z.enum(['basemap', 'vector']),
  code: z.string(),
  version: z.string().nullable().describe('null: the default version, or a vector'),
})

/** A style in the form of the catalog. */
export const styleSchema = z.object({
  code: z.string(),
  name: z.string().describe('`name` of the document, or the code if it has none'),
  revision: z.int().describe('positive; increases whenever the document or a file that it serves may have changed'),
  available: z.boolean(),
  source_code: z.string(),
  style_url: z.string(),
  sources: z
    .array(styleSourceSchema)
    .describe('the resources of this gateway that it uses; a token needs the grants of all of them'),
  fonts: z.array(z.string()),
  sprites: z
    .array(z.string())
    .describe('names of the sprites in its folder; the sprite address without a name returns `sprite`'),
  hosts: z.array(z.string()).describe('other hosts that the style names'),
  created_at: timestampSchema,
  updated_at: timestampSchema,
})
export type Style = z.infer<typeof styleSchema>

/** A missing dependency of a style. */
export const styleProblemSchema = z.object({ message: z.string(), ...messageFields })

export const adminStyleSchema = styleSchema.extend({
  path: z.string(),
  icons: z.array(z.string()).describe('icons and patterns that the style names literally'),
  problems: z
    .array(styleProblemSchema)
    .describe('sources, fonts and icons that the style needs and that are not available'),
  ...withdrawableFields,
})
export type AdminStyle = z.infer<typeof adminStyleSchema>

/** A style in the form for readers, without credentials in its URLs. */
export const styleDocumentSchema = z.object({
  code: z.string(),
  revision: z.int(),
  revisions: z
    .array(z.object({ revision: z.int(), created_at: timestampSchema }))
    .max(MAX_KEPT_REVISIONS)
    .describe('revisions whose documents are kept, newest first'),
  bases: z.array(z.string()).describe('public addresses of parts of this gateway in the document'),
  document: z.record(z.string(), z.unknown()),
})

export const stylePatchBodySchema = z.strictObject({ withdrawn: withdrawnSchema })
