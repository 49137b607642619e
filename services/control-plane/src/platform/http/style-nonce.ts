import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'

/** Allows the style elements with this nonce in one response, beyond the policy of all responses. */
export function allowStyles(reply: FastifyReply, nonce: string): FastifyReply {
  const policy = String(reply.getHeader('content-security-policy'))
  return reply.header(
    'Content-Security-Policy',
    policy.replace("style-src 'self'", `style-src 'self' 'nonce-${nonce}'`),
  )
}

const NONCE_BYTES = 16
export const newNonce = (): string => randomBytes(NONCE_BYTES).toString('base64url')
