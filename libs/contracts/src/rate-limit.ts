import { z } from 'zod'
import { sentence } from './messages.js'

/** Limits: more than one gateway answers, and one request in a day. */
const MAX_PER_SECOND = 1_000_000
const MIN_PER_SECOND = 1 / 86_400

/** How often a token may be used, over all edges and control planes: a token bucket of `burst` that fills by `per_second`. */
export const rateLimitSchema = z.strictObject({
  per_second: z
    .number()
    .min(MIN_PER_SECOND, { error: sentence('said.rate_too_small') })
    .max(MAX_PER_SECOND),
  burst: z.int().min(1).max(MAX_PER_SECOND),
})
export type RateLimit = z.infer<typeof rateLimitSchema>

/** Where bursts are not named, as many requests at once as the limit allows in a second. */
export const rateLimitBodySchema = rateLimitSchema.partial({ burst: true })
export type RateLimitBody = z.infer<typeof rateLimitBodySchema>

export function withBurst({ per_second, burst }: RateLimitBody): RateLimit {
  return { per_second, burst: burst ?? Math.max(1, Math.ceil(per_second)) }
}

/** How many requests of a token one process wants to let in. */
export interface PermitRequest {
  readonly tokenId: string
  readonly perSecond: number
  readonly burst: number
  readonly wanted: number
}

export interface PermitAnswer {
  /** 0 to `wanted` */
  readonly granted: number
  /** until there is one more; 0: there is */
  readonly retryAfterMs: number
  /** edge processes that are alive, this one included where it is one */
  readonly processes: number
}
