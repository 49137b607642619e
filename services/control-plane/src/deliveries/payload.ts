import type { CodedMessage } from '@gateway/contracts/messages.js'
import type { DeliveryKind } from '@gateway/store/deliveries.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import type { ControlContext } from '../platform/context.js'
import type { Bundle } from './files/bundle.js'

/** What one attempt sends. */
export interface Payload {
  readonly ok: true
  /** serialised as JSON */
  readonly event: unknown
  /** sent along where the target takes uploads; null: the event is all there is */
  readonly bundle: Bundle | null
  /** of the request, next to those of every message */
  readonly headers?: Readonly<Record<string, string>>
}

export interface NothingToSend {
  readonly ok: false
  /** for the operator */
  readonly reason: CodedMessage
}

/** Builds the payload anew for each attempt, from the state at that time. Belongs to the feature that enqueues this kind of delivery. */
export type PayloadBuilder = (
  ctx: Pick<ControlContext, 'sql' | 'settings' | 'now' | 'bus' | 'shutdown' | 'log'>,
  claimed: ClaimedDelivery,
) => Promise<Payload | NothingToSend>

export type PayloadBuilders = Readonly<Record<DeliveryKind, PayloadBuilder>>
