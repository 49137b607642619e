/** Returns the host in the form of a socket call: without the brackets of an IPv6 address, and with the wildcard address for `*`. */
export function bareHost(host: string): string {
  return host === '*' ? '::' : host.replace(/^\[|\]$/g, '')
}
