export interface AddressHost {
  /** without brackets */
  readonly host: string
  /** null: none is given */
  readonly port: number | null
}

const HOSTS = /^([a-z+]+:\/\/(?:[^/?#]*@)?)([^@/?#]+)/

/**
 * The hosts of an address, of which a database's may have several, separated by commas (PostgreSQL, "Connection URIs"): with several it is no URL.
 * null: it is malformed, or names none.
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
