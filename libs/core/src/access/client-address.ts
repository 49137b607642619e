import ipaddr from 'ipaddr.js'

/**
 * Patterns of the headers by which proxies, load balancers and CDNs name the client that they forward for. Patterns are used because every
 * product has its own names. If a name is missed, a client behind such a proxy passes for this machine.
 */
const FORWARDING_NAMES: ReadonlySet<string> = new Set([
  'forwarded',
  'via',
  'x-via',
  'x-forwarded',
  'cdn-loop',
  'client-cert',
  'client-cert-chain',
  'front-end-https',
  'surrogate-capability',
  'x-cloud-trace-context',
  'x-varnish',
])
const FORWARDING_PREFIXES = [
  'x-forward-',
  'x-forwarded-',
  'x-original-',
  'x-real-',
  'x-envoy-',
  'x-azure-',
  'x-amzn-',
  'x-amz-cf-',
  'x-appengine-',
  'x-arr-',
  'x-cluster-',
  'x-akamai-',
  'x-fastly-',
  'x-fd-',
  'x-vercel-',
  'akamai-',
  'cdn-',
  'cf-',
  'cloudfront-',
  'fastly-',
  'fly-',
]
const FORWARDING_SUFFIXES = ['-ip', '-clientip', '-addr', '-address', '_addr']

/** True if a header of this name, in lower case, means that a proxy may stand between the caller and this service. */
export function isForwardingHeader(name: string): boolean {
  return (
    FORWARDING_NAMES.has(name) ||
    FORWARDING_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
    FORWARDING_SUFFIXES.some((suffix) => name.endsWith(suffix))
  )
}

export interface ClientAddress {
  /** address of the client, as far as it can be trusted */
  readonly address: string
  /** true if the request comes from this machine */
  readonly loopback: boolean
}

export type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Parses a CIDR list for `clientAddress`. Throws if an entry is neither an address nor a CIDR range. */
export function parseRanges(list: readonly string[]): readonly Range[] {
  return list.map((entry) => {
    if (entry.includes('/')) return ipaddr.parseCIDR(entry) as Range
    const address = ipaddr.process(entry)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  })
}

/**
 * Finds the client of a request. The peer address decides. `X-Forwarded-For` counts only hop by hop from trusted proxies, read from the right;
 * the first address that is not a trusted proxy is the client. A forwarding header from an untrusted peer makes even a loopback peer remote,
 * since an undeclared proxy may have sent it. A hop that is not this machine has the same effect. Names of `headers` are in lower case.
 */
export function clientAddress(
  peer: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  trusted: readonly Range[],
): ClientAddress {
  const peerIp = parse(peer)
  if (peerIp === null) return { address: peer, loopback: false }
  const forwarded = Object.keys(headers).some((name) => headers[name] !== undefined && isForwardingHeader(name))
  if (!isIn(peerIp, trusted)) {
    return { address: peerIp.toString(), loopback: !forwarded && peerIp.range() === 'loopback' }
  }
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')
  // A trusted proxy that does not name its client proves nothing about the client, so the request is not loopback.
  if (hops.length === 0) return { address: peerIp.toString(), loopback: !forwarded && peerIp.range() === 'loopback' }
  // A hop behind another machine that claims to be 127.0.0.1 is that machine, or lies.
  let loopback = peerIp.range() === 'loopback'
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = parse(hops[i] as string)
    if (hop === null) return { address: hops[i] as string, loopback: false }
    loopback &&= hop.range() === 'loopback'
    if (!isIn(hop, trusted) || i === 0) return { address: hop.toString(), loopback }
  }
  return { address: peerIp.toString(), loopback: false }
}

/** Maximum length of an address: IPv6 with a zone, brackets and a port. */
const MAX_ADDRESS_LENGTH = 100

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null
  const [bare = ''] = text.replace(/^\[|\](:\d+)?$/g, '').split('%', 1)
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null
}

/** True if an address is in one of the ranges. Returns false for text that is not an address. */
export function isInRanges(address: string, ranges: readonly Range[]): boolean {
  const ip = parse(address)
  return ip !== null && isIn(ip, ranges)
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
