import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'

/** Lets the page of this answer have the style elements that carry the nonce, beyond the policy of all answers. */
export function allowStyles(reply: FastifyReply, nonce: string): FastifyReply {
  const policy = String(reply.getHeader('content-security-policy'))
  return reply.header(
    'Content-Security-Policy',
    policy.replace("style-src 'self'", `style-src 'self' 'nonce-${nonce}'`),
  )
}

const NONCE_BYTES = 16
export const newNonce = (): string => randomBytes(NONCE_BYTES).toString('base64url')
