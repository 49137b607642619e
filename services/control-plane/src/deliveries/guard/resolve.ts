import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** All addresses of a host, in the order of preference; rejects as `dns.lookup` does. An address is its own resolution. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>

/** The system's own resolution (getaddrinfo: hosts file, search domains), because receivers have names that only it knows. */
export const resolveHost: Resolve = async (host) => {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  return lookup(host, { all: true, order: 'verbatim' })
}
