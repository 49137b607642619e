import ipaddr from 'ipaddr.js'

/** Headers by which a proxy tells whom it forwards for. Any of them on a request means that a proxy may stand in between. */
export const FORWARDING_HEADERS = [
  'forwarded',
  'x-forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'cf-connecting-ip',
  'true-client-ip',
  'via',
] as const

export interface ClientAddress {
  /** the address of the client as far as it can be trusted */
  readonly address: string
  /** whether the request comes from this machine itself */
  readonly loopback: boolean
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Prepares a CIDR list for `clientAddress`. Throws for an entry that is neither an address nor a CIDR range. */
export function parseRanges(list: readonly string[]): readonly Range[] {
  return list.map((entry) => {
    if (entry.includes('/')) return ipaddr.parseCIDR(entry) as Range
    const address = ipaddr.process(entry)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  })
}

/**
 * Who a request comes from. The peer address decides; `X-Forwarded-For` counts only hop by hop from trusted proxies, read from the
 * right, and the first address that is no trusted proxy is the client. A forwarding header from an untrusted peer makes even a
 * loopback peer count as remote, since it may be a proxy that nobody declared.
 */
export function clientAddress(
  peer: string,
  header: (name: string) => string | undefined,
  trusted: readonly Range[],
): ClientAddress {
  const peerIp = parse(peer)
  if (peerIp === null) return { address: peer, loopback: false }
  const forwarded = FORWARDING_HEADERS.some((name) => header(name) !== undefined)
  if (!isIn(peerIp, trusted)) {
    return { address: peerIp.toString(), loopback: !forwarded && peerIp.range() === 'loopback' }
  }
  const hops = (header('x-forwarded-for') ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')
  // A trusted proxy that does not say for whom it asks tells nothing about the client: not loopback.
  if (hops.length === 0) return { address: peerIp.toString(), loopback: !forwarded && peerIp.range() === 'loopback' }
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = parse(hops[i] as string)
    if (hop === null) return { address: hops[i] as string, loopback: false }
    if (!isIn(hop, trusted) || i === 0) return { address: hop.toString(), loopback: hop.range() === 'loopback' }
  }
  return { address: peerIp.toString(), loopback: false }
}

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const bare = text.replace(/^\[|\](:\d+)?$/g, '').replace(/%.*$/, '')
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly Range[]): boolean {
  return ranges.some(([range, bits]) => {
    const net =
      range.kind() === 'ipv6' && (range as ipaddr.IPv6).isIPv4MappedAddress()
        ? (range as ipaddr.IPv6).toIPv4Address()
        : range
    return net.kind() === address.kind() && address.match(net as ipaddr.IPv4, bits)
  })
}
