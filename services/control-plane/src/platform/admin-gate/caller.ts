import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type ClientAddress, clientAddress, parseRanges } from '@gateway/core/access/client-address.js'

/** The edge of this installation authenticates with the key, and names its own peer. From any other peer both headers are ignored. */
const EDGE_KEY_HEADER = 'x-edge-key'
const EDGE_PEER_HEADER = 'x-edge-peer'

export interface CallerFacts {
  readonly peer: string
  readonly headers: IncomingHttpHeaders
}

/** Returns the address that a request comes from, directly or through an edge. */
export type FindCaller = (facts: CallerFacts) => ClientAddress

export function callerFinder(edgeLink: string, trustedProxies: readonly string[]): FindCaller {
  const trusted = parseRanges(trustedProxies)
  const key = Buffer.from(edgeLink)
  return ({ peer, headers }) => {
    // Repeated headers arrive joined, and the result is not a valid key.
    const { [EDGE_KEY_HEADER]: edgeKey, [EDGE_PEER_HEADER]: edgePeer } = headers
    const statedPeer = isKey(edgeKey, key) ? edgePeer : undefined
    return clientAddress(statedPeer === undefined ? peer : String(statedPeer), headers, trusted)
  }
}

function isKey(given: string | string[] | undefined, key: Buffer): boolean {
  const bytes = Buffer.from(String(given ?? ''))
  return bytes.length === key.length && timingSafeEqual(bytes, key)
}
