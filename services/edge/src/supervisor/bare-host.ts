/** The host as a socket call takes it: without the brackets of an IPv6 address in an address line, and `*` as the address of all. */
export function bareHost(host: string): string {
  return host === '*' ? '::' : host.replace(/^\[|\]$/g, '')
}
