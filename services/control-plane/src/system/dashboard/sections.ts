import { edgePresenceSchema } from '@gateway/contracts/edge.js'
import { healthCheckSchema } from '@gateway/contracts/health.js'
import { pushRecordSchema, vectorPushRecordSchema } from '@gateway/contracts/push.js'
import { scanSourceSchema } from '@gateway/contracts/scan-source.js'
import { tokenSchema } from '@gateway/contracts/token.js'
import { warningSchema } from '@gateway/contracts/warning.js'
import { z } from 'zod'
import { auditEntrySchema } from '../../platform/audit/routes.js'

const count = z.int().min(0)

const pushesSchema = z.object({
  basemap_records: z.array(pushRecordSchema).describe('the most recent'),
  vector_records: z.array(vectorPushRecordSchema).describe('the most recent'),
})

const layerSchema = z.object({
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
  pushes: pushesSchema,
  layers: z.array(layerSchema).describe('the source images of each sliced layer'),
  scan_sources: z.array(scanSourceSchema),
  health: healthCheckSchema.nullable().describe('the result of the last health check; null: no check has ended yet'),
  edges: z.array(edgePresenceSchema),
  audit: z.array(auditEntrySchema).describe('the newest administrative changes'),
  warnings: z
    .array(warningSchema)
    .optional()
    .describe('settings of the answering control plane that are probably not intended; absent if all are plausible'),
})

/** Sections of other features. features.ts passes the functions that read them. */
export interface DashboardProviders {
  pushes(): Promise<z.input<typeof pushesSchema>>
  layers(): Promise<z.input<typeof layerSchema>[]>
}
