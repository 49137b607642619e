import type { PayloadBuilder } from '../deliveries/payload.js'

/** Builds the payload of an event as it was when it happened. */
export const eventPayload: PayloadBuilder = async ({ now }, { body }) => ({
  ok: true,
  event: { ...body, delivered: new Date(now()).toISOString() },
  bundle: null,
})
