import type { EventRecord, PurgeRecord, PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { Delivery } from '@gateway/store/deliveries.js'
import { deliveryFields } from '../deliveries/records.js'

/** Converts a basemap push to the form of responses and messages. */
export function toPushRecord(delivery: Delivery): PushRecord {
  return {
    ...deliveryFields(delivery),
    target_code: delivery.targetCode ?? '',
    basemap_code: delivery.basemapCode ?? '',
    version: delivery.version ?? '',
    export_id: delivery.exportId,
    export: delivery.export,
  }
}

export function toPurgeRecord(delivery: Delivery): PurgeRecord {
  const { targetCode, basemapCode, version } = delivery
  return {
    ...deliveryFields(delivery),
    target_code: targetCode ?? '',
    basemap_code: basemapCode ?? '',
    version,
  }
}

export function toEventRecord(delivery: Delivery): EventRecord {
  const { targetCode, basemapCode, version, event } = delivery
  return {
    ...deliveryFields(delivery),
    target_code: targetCode ?? '',
    event: event ?? '',
    basemap_code: basemapCode ?? '',
    version,
  }
}

export function toVectorPushRecord(delivery: Delivery): VectorPushRecord {
  return { ...deliveryFields(delivery), target_code: delivery.targetCode ?? '', vector_code: delivery.vectorCode ?? '' }
}
