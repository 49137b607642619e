import type { CodedMessage } from '@gateway/contracts/messages.js'
import type { DeliveryKind } from '@gateway/store/deliveries.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import type { ControlContext } from '../platform/context.js'
import type { Bundle } from './files/bundle.js'

/** The content that one attempt sends. */
export interface Payload {
  readonly ok: true
  /** serialised as JSON */
  readonly event: unknown
  /** sent along if the target takes uploads; null: only the event */
  readonly bundle: Bundle | null
  /** headers of the request, in addition to the standard ones */
  readonly headers?: Readonly<Record<string, string>>
}

export interface NothingToSend {
  readonly ok: false
  /** reason for the operator */
  readonly reason: CodedMessage
}

/** Builds the payload again for each attempt, from the state at that time. The feature that enqueues this kind of delivery implements it. */
export type PayloadBuilder = (
  ctx: Pick<ControlContext, 'sql' | 'settings' | 'now' | 'bus' | 'shutdown' | 'log'>,
  claimed: ClaimedDelivery,
) => Promise<Payload | NothingToSend>

export type PayloadBuilders = Readonly<Record<DeliveryKind, PayloadBuilder>>
