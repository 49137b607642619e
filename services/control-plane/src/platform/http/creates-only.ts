import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { FastifyRequest } from 'fastify'

/**
 * True if a request that creates or updates by a code must not update: `If-None-Match: *` (RFC 9110, 13.1.2). Entity tags match nothing,
 * since no resource here has one.
 */
export function createsOnly(request: Pick<FastifyRequest, 'headers'>): boolean {
  return request.headers['if-none-match']?.trim() === '*'
}

export const CODE_EXISTS: Refusal = refuse('precondition_failed', coded('code_exists'))

/** Sentence for the descriptions of such routes. */
export const CREATES_ONLY = 'With `If-None-Match: *` it only creates, and returns 412 if the code exists.'
