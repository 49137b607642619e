import { z } from 'zod'
import { timestampSchema } from './common.js'
import { sentence } from './messages.js'

/** Topics of the console's pages. An event names those that have changed. */
export const LIVE_TOPICS = [
  'catalog',
  'canaries',
  'scans',
  'deliveries',
  'exports',
  'seeds',
  'slicing',
  'edges',
  'traffic',
  'usage',
  'audit',
] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

/** Maximum number of basemaps in one preview token; a page of a list has at most as many. */
const MAX_PREVIEWED = 100

export const previewTokenBodySchema = z
  .strictObject({
    basemap_code: z.string().min(1).optional(),
    basemap_codes: z
      .array(z.string().min(1))
      .min(1)
      .max(MAX_PREVIEWED)
      .optional()
      .describe('several basemaps, as in a list with thumbnails; codes that do not exist are left out'),
    vector_code: z.string().min(1).optional(),
    vector_codes: z
      .array(z.string().min(1))
      .min(1)
      .max(MAX_PREVIEWED)
      .optional()
      .describe('several vectors, also together with `basemap_codes`, as on a map of several layers'),
    style_code: z.string().min(1).optional(),
  })
  .refine(
    ({ basemap_codes: basemaps, vector_codes: vectors, ...one }) => {
      const lists = Number(basemaps !== undefined || vectors !== undefined)
      return lists + Object.values(one).filter((value) => value !== undefined).length === 1
    },
    { error: sentence('said.one_of_basemap_vector') },
  )

export const previewTokenSchema = z.object({
  token: z.string().describe('the plaintext; for the header X-Access-Token'),
  expires_at: timestampSchema,
})
export type PreviewToken = z.infer<typeof previewTokenSchema>

export const settingViewSchema = z.object({
  name: z.string().describe('the name in the environment and the env file'),
  group: z.string().describe('the part of the gateway that the setting belongs to; items are ordered by it'),
  value: z
    .union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))])
    .nullable()
    .describe('in force after defaults; null if nothing is set, and for every secret'),
  secret: z.boolean(),
  is_set: z.boolean(),
  is_default: z.boolean().describe('true: the same value would be in force without any configuration'),
})
export type SettingView = z.infer<typeof settingViewSchema>

export const settingsViewSchema = z.object({
  config_file: z.string(),
  items: z.array(settingViewSchema),
  total: z.int().min(0),
})
