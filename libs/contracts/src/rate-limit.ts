import { z } from 'zod'
import { sentence } from './messages.js'

/** Limits: more requests than one gateway can serve, and one request in a day. */
const MAX_PER_SECOND = 1_000_000
const MIN_PER_SECOND = 1 / 86_400

/** The rate limit of a token, over all edges and control planes: a token bucket of size `burst` that fills by `per_second`. */
export const rateLimitSchema = z.strictObject({
  per_second: z
    .number()
    .min(MIN_PER_SECOND, { error: sentence('said.rate_too_small') })
    .max(MAX_PER_SECOND),
  burst: z.int().min(1).max(MAX_PER_SECOND),
})
export type RateLimit = z.infer<typeof rateLimitSchema>

/** The default of `burst` is the number of requests that the limit allows in a second. */
export const rateLimitBodySchema = rateLimitSchema.partial({ burst: true })
export type RateLimitBody = z.infer<typeof rateLimitBodySchema>

export function withBurst({ per_second, burst }: RateLimitBody): RateLimit {
  return { per_second, burst: burst ?? Math.max(1, Math.ceil(per_second)) }
}

/** The number of requests of a token that one process wants to admit. */
export interface PermitRequest {
  readonly tokenId: string
  readonly perSecond: number
  readonly burst: number
  readonly wanted: number
}

export interface PermitAnswer {
  /** 0 to `wanted` */
  readonly granted: number
  /** milliseconds until the next permit; 0 if there is one */
  readonly retryAfterMs: number
  /** number of live edge processes, including this one if it is an edge */
  readonly processes: number
}
