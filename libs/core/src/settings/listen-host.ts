import { existsSync } from 'node:fs'

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
