import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type ClientAddress, clientAddress, parseRanges } from '@gateway/access/client-address.js'

/** The edge of this installation proves itself with the key and states who its own peer was; from anyone else both mean nothing. */
export const EDGE_KEY_HEADER = 'x-edge-key'
export const EDGE_PEER_HEADER = 'x-edge-peer'

export interface CallerFacts {
  readonly peer: string
  readonly headers: IncomingHttpHeaders
}

/** Builds the function that tells who a request comes from, through an edge or not. */
export function callerFinder(
  edgeLink: string,
  trustedProxies: readonly string[],
): (facts: CallerFacts) => ClientAddress {
  const trusted = parseRanges(trustedProxies)
  const key = Buffer.from(edgeLink)
  return ({ peer, headers }) => {
    const header = (name: string) => {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    }
    const statedPeer = isKey(header(EDGE_KEY_HEADER), key) ? header(EDGE_PEER_HEADER) : undefined
    return clientAddress(statedPeer ?? peer, header, trusted)
  }
}

function isKey(given: string | undefined, key: Buffer): boolean {
  const bytes = Buffer.from(given ?? '')
  return bytes.length === key.length && timingSafeEqual(bytes, key)
}
