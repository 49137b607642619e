import { adminBasemapSchema, basemapSchema, basemapVersionSchema } from '@gateway/contracts/basemap.js'
import { errorSchema } from '@gateway/contracts/common.js'
import { auditEntrySchema } from '@gateway/contracts/console.js'
import { edgePresenceSchema } from '@gateway/contracts/edge.js'
import { healthCheckSchema } from '@gateway/contracts/health.js'
import { sessionSchema } from '@gateway/contracts/operator.js'
import {
  eventRecordSchema,
  purgeRecordSchema,
  pushRecordSchema,
  vectorPushRecordSchema,
} from '@gateway/contracts/push.js'
import { scanSchema, scanSourceSchema } from '@gateway/contracts/scan-source.js'
import { signedUrlSchema, signingKeySchema } from '@gateway/contracts/signed-url.js'
import { sliceJobSchema } from '@gateway/contracts/slice.js'
import { targetSchema } from '@gateway/contracts/target.js'
import { tokenSchema } from '@gateway/contracts/token.js'
import { usageCellsSchema, usageItemSchema } from '@gateway/contracts/usage.js'
import { adminVectorSchema, vectorSchema } from '@gateway/contracts/vector.js'
import { z } from 'zod'

const NAMED_SCHEMAS = {
  Error: errorSchema,
  Basemap: basemapSchema,
  AdminBasemap: adminBasemapSchema,
  BasemapVersion: basemapVersionSchema,
  Vector: vectorSchema,
  AdminVector: adminVectorSchema,
  ScanSource: scanSourceSchema,
  Scan: scanSchema,
  Token: tokenSchema,
  Target: targetSchema,
  PushRecord: pushRecordSchema,
  VectorPushRecord: vectorPushRecordSchema,
  EventRecord: eventRecordSchema,
  PurgeRecord: purgeRecordSchema,
  SignedUrl: signedUrlSchema,
  SigningKey: signingKeySchema,
  SliceJob: sliceJobSchema,
  HealthCheck: healthCheckSchema,
  EdgePresence: edgePresenceSchema,
  AuditEntry: auditEntrySchema,
  Session: sessionSchema,
  Usage: usageItemSchema,
  UsageCells: usageCellsSchema,
} as const

/** Names the resources in the document, for readers and for generators of clients. */
export function nameSchemas(): void {
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) {
    z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id })
  }
}
