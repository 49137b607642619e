import type { PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { Sql } from '@gateway/store/connect.js'
import { listDeliveries } from '@gateway/store/deliveries.js'
import type { PayloadBuilder } from '../deliveries/payload.js'
import { toPushRecord, toVectorPushRecord } from './record.js'

const RECENT = { limit: 20, before: null }

/** Returns the pushes section of the dashboard. */
export async function recentPushes(
  sql: Sql,
): Promise<{ basemap_records: PushRecord[]; vector_records: VectorPushRecord[] }> {
  const [basemaps, vectors] = await Promise.all([
    listDeliveries(sql, 'basemap_push', RECENT),
    listDeliveries(sql, 'vector_push', RECENT),
  ])
  return { basemap_records: basemaps.items.map(toPushRecord), vector_records: vectors.items.map(toVectorPushRecord) }
}

/** Builds the payload of an event as it was when it happened. */
export const eventPayload: PayloadBuilder = async ({ now }, { body }) => ({
  ok: true,
  event: { ...body, delivered: new Date(now()).toISOString() },
  bundle: null,
})
