import ipaddr from 'ipaddr.js'
import { type Address, canonicalAddress } from './address-class.js'

/** Entries of CALLBACK_ALLOW or CALLBACK_DENY: addresses and CIDR ranges, host names, and `*.domain` for everything below a domain. */
export interface DestinationList {
  readonly empty: boolean
  hasHost(host: string): boolean
  hasAddress(text: string): boolean
  /** true if an entry names only addresses of this machine: the operator then meant them, and no wide range caught them by accident */
  readonly namesLoopback: boolean
}

export function destinationList(entries: readonly string[]): DestinationList {
  const ranges = entries.map(parseRange).filter((range) => range !== null)
  const hosts = entries.filter((entry) => parseRange(entry) === null).map(plainHost)
  return {
    empty: entries.length === 0,
    hasHost: (host) => hosts.some((pattern) => hostMatches(pattern, plainHost(host))),
    hasAddress: (text) => {
      const canonical = canonicalAddress(text)
      return canonical !== null && ranges.some((range) => within(canonical.address, range))
    },
    namesLoopback:
      hosts.includes('localhost') || ranges.some(([base, bits]) => base.range() === 'loopback' && bits >= 8),
  }
}

type Range = readonly [Address, number]

function parseRange(entry: string): Range | null {
  if (ipaddr.isValidCIDR(entry)) {
    const [base, bits] = ipaddr.parseCIDR(entry)
    // Addresses are judged in their IPv4 form, so a range of IPv4-mapped addresses is converted too.
    if (base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96)
      return [base.toIPv4Address(), bits - 96]
    return [base, bits]
  }
  const single = canonicalAddress(entry)
  return single === null ? null : [single.address, single.address.kind() === 'ipv4' ? 32 : 128]
}

function within(address: Address, [base, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits)
  return base instanceof ipaddr.IPv6 && address.match(base, bits)
}

/** Returns the host in lower case, without the final dot of a fully qualified name. */
export function plainHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}

function hostMatches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
}
