import { z } from 'zod'
import { timestampSchema } from './common.js'
import { edgePresenceSchema } from './edge.js'
import { healthCheckSchema } from './health.js'
import { sentence } from './messages.js'
import { pushRecordSchema, vectorPushRecordSchema } from './push.js'
import { scanSourceSchema } from './scan-source.js'
import { tokenSchema } from './token.js'
import { warningSchema } from './warning.js'

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

const changedFields = z.record(z.string(), z.unknown()).nullable()

export const auditEntrySchema = z.object({
  id: z.int(),
  at: timestampSchema,
  actor: z
    .string()
    .describe(
      'the e-mail address of the person who signed in (`oidc:` and the user name or identifier at the provider if the address is unknown), the ' +
        'user name of the administrator, `token` for ADMIN_TOKEN, or `system` for changes that the service makes itself',
    ),
  address: z.string().describe('the address of the client'),
  action: z.string(),
  subject: z.string().describe('the code or id of the changed item'),
  subject_name: z.string().nullable().describe('the name of the item at that time; null: unknown, or it has no name'),
  before: changedFields.describe(
    'the changed fields with their former values; empty: the item did not exist; null: nothing was changed',
  ),
  after: changedFields.describe('the changed fields with their new values'),
  detail: z.record(z.string(), z.unknown()).describe('everything that is recorded, including `before` and `after`'),
  chain_position: z
    .int()
    .nullable()
    .describe(
      'the place in the chain, from 1; null: the entry is older than the chain, or was not made by a control plane',
    ),
  previous_sha256: z.string().nullable().describe('hex SHA-256 of the preceding entry in the chain'),
  sha256: z.string().nullable().describe('hex SHA-256 of this entry, including `previous_sha256`'),
})
export type AuditEntry = z.infer<typeof auditEntrySchema>

const count = z.int().min(0)

export const dashboardPushesSchema = z.object({
  basemap_records: z.array(pushRecordSchema).describe('the most recent'),
  vector_records: z.array(vectorPushRecordSchema).describe('the most recent'),
})

export const dashboardLayerSchema = z.object({
  code: z.string(),
  version: z.string(),
  source_paths: z.array(z.string()).describe('in the order in which they were sliced'),
})

export const dashboardSchema = z.object({
  ledger: z.object({
    basemaps: count,
    versions: count,
    versions_unavailable: count,
    vectors: count,
    vectors_unavailable: count,
    vectors_unbuilt: count.describe('number of vectors whose vector tiles could not be built'),
  }),
  tokens: z.object({
    active: count,
    expired: count,
    disabled: count,
    items: z.array(tokenSchema).describe('the newest'),
  }),
  pushes: dashboardPushesSchema,
  layers: z.array(dashboardLayerSchema).describe('the source images of each sliced layer'),
  scan_sources: z.array(scanSourceSchema),
  health: healthCheckSchema.nullable().describe('the result of the last health check; null: no check has ended yet'),
  edges: z.array(edgePresenceSchema),
  audit: z.array(auditEntrySchema).describe('the newest administrative changes'),
  warnings: z
    .array(warningSchema)
    .optional()
    .describe('settings of the answering control plane that are probably not intended; absent if all are plausible'),
})
export type Dashboard = z.infer<typeof dashboardSchema>
