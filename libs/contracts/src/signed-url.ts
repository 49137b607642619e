import { z } from 'zod'
import { areaSchema, boundsSchema } from './basemap.js'
import { timestampSchema } from './common.js'
import { instantSchema } from './instant.js'
import { sentence } from './messages.js'
import { warningsField } from './warning.js'

export const signedUrlBodySchema = z
  .strictObject({
    basemap_code: z.string().min(1).optional(),
    style_code: z
      .string()
      .min(1)
      .optional()
      .describe('in the place of a basemap: the style with all resources that it needs'),
    version: z.string().min(1).optional().describe('omitted: every version, and the default one by `current`'),
    expires_at: instantSchema.describe('UTC if it has no zone; in whole seconds, a fraction is cut off'),
    bounds: areaSchema.optional().describe('the addresses open only tiles that touch this area; omitted: all tiles'),
  })
  .refine((body) => (body.basemap_code === undefined) !== (body.style_code === undefined), {
    message: sentence('said.basemap_or_style'),
  })
  .refine((body) => body.style_code === undefined || (body.version === undefined && body.bounds === undefined), {
    message: sentence('said.style_whole'),
  })
export type SignedUrlBody = z.infer<typeof signedUrlBodySchema>

export const signedUrlSchema = z.object({
  basemap_code: z.string(),
  version: z.string().nullable(),
  expires_at: timestampSchema,
  bounds: boundsSchema.nullable(),
  url_template: z.string().describe('the addresses of tiles'),
  tilejson_url: z.string(),
  archive_url: z
    .string()
    .nullable()
    .describe(
      'the address of the archive of the version, or of the default one; null: it is not an archive, or `bounds` open only a part of it',
    ),
  ...warningsField,
})
export type SignedUrl = z.infer<typeof signedUrlSchema>

/** The URL of a style that needs no token, like the URLs in it. */
export const signedStyleSchema = z.object({
  style_code: z.string(),
  expires_at: timestampSchema,
  style_url: z.string(),
  url_template: z.string().describe('the same address'),
  ...warningsField,
})
export type SignedStyle = z.infer<typeof signedStyleSchema>

/** A signing key without its secret, which no response contains. */
export const signingKeySchema = z.object({
  id: z.uuid(),
  created_at: timestampSchema,
  signs_from: timestampSchema.describe('a new key waits until every edge knows it'),
  expires_at: timestampSchema.nullable().describe('when URLs signed with it expire; null: not before it is replaced'),
})
export type SigningKey = z.infer<typeof signingKeySchema>

/** Maximum: 366 days. */
const MAX_GRACE_SECONDS = 31_622_400

export const rotateKeyBodySchema = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(MAX_GRACE_SECONDS)
    .optional()
    .describe(
      'time in seconds for which URLs signed with the present key stay valid; default: 604800, a week; 0: they expire at once',
    ),
})
