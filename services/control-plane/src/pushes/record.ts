import type { PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { Delivery } from '@gateway/store/deliveries.js'

/** A basemap push as it is answered and sent. */
export function toPushRecord(delivery: Delivery): PushRecord {
  return {
    ...common(delivery),
    target_code: delivery.targetCode ?? '',
    basemap_code: delivery.basemapCode ?? '',
    version: delivery.version ?? '',
  }
}

export function toVectorPushRecord(delivery: Delivery): VectorPushRecord {
  return { ...common(delivery), target_code: delivery.targetCode ?? '', vector_code: delivery.vectorCode ?? '' }
}

export function common(delivery: Delivery) {
  return {
    id: delivery.id,
    status: delivery.status,
    attempts: delivery.attempts,
    message: delivery.message,
    next_attempt_at: delivery.dueAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    updated_at: delivery.updatedAt.toISOString(),
  }
}
