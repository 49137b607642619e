import { existsSync } from 'node:fs'

export interface AddressHost {
  /** without brackets */
  readonly host: string
  /** null if the address names no port */
  readonly port: number | null
}

const HOSTS = /^([a-z+]+:\/\/(?:[^/?#]*@)?)([^@/?#]+)/

/**
 * Returns the hosts of an address. The address of a database may have several, separated by commas (PostgreSQL, "Connection URIs"); such an
 * address is not a URL. Returns null if the address is malformed or names no host.
 */
export function addressHosts(address: string): readonly AddressHost[] | null {
  const [, before = '', hosts] = HOSTS.exec(address) ?? []
  if (hosts === undefined) return null
  const rest = address.slice(before.length + hosts.length)
  const found: AddressHost[] = []
  for (const one of hosts.split(',')) {
    const alone = `${before}${one}${rest}`
    if (!URL.canParse(alone)) return null
    const { hostname, port } = new URL(alone)
    if (hostname === '') return null
    found.push({ host: decodeURIComponent(hostname.replace(/^\[|\]$/g, '')), port: port === '' ? null : Number(port) })
  }
  return found
}

/** Is there where the kernel knows IPv6, whether or not an interface has an address of it. */
const IPV6_INTERFACES = '/proc/net/if_inet6'

/**
 * The host as a socket call takes it: without the brackets of an IPv6 address in an address line, and `*` as the address of all, IPv4 and
 * IPv6 alike where the kernel has both.
 */
export function listenHost(host: string): string {
  if (host !== '*') return host.replace(/^\[|\]$/g, '')
  return process.platform !== 'linux' || existsSync(IPV6_INTERFACES) ? '::' : '0.0.0.0'
}
