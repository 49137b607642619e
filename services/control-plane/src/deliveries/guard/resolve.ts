import { isIP } from 'node:net'
import { LookUps } from './look-ups.js'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** All addresses of a host, in the order of preference; rejects as `dns.lookup` does. An address is its own resolution. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>

const lookUps = new LookUps()

/** The system's own resolution (hosts file, search domains), because receivers have names that only it knows. */
export const resolveHost: Resolve = async (host) => {
  const family = isIP(host)
  return family === 0 ? lookUps.resolve(host) : [{ address: host, family }]
}
