import type { NotificationRecord } from '@gateway/contracts/push.js'
import type { Delivery } from '@gateway/store/deliveries.js'
import { deliveryFields } from '../deliveries/records.js'

const BEFORE_ADDRESS = 'mailto:'

export function toNotificationRecord(delivery: Delivery): NotificationRecord {
  const { targetCode, url, event, subject } = delivery
  return {
    ...deliveryFields(delivery),
    target_code: targetCode,
    email: url?.startsWith(BEFORE_ADDRESS) ? url.slice(BEFORE_ADDRESS.length) : null,
    event: event ?? '',
    subject: subject ?? '',
  }
}
