import { nameOf, PROTOCOL } from './addresses.js'

/** Returns an address to which parameters are appended, without those that each request sets itself. GeoServer says `?SERVICE=WMS&`. */
export function queryBase(address: string): string {
  const [path = '', query = ''] = address.split('?', 2)
  const kept = query.split('&').filter((part) => part !== '' && !PROTOCOL.has(nameOf(part)))
  return `${path}?${kept.map((part) => `${part}&`).join('')}`
}

/**
 * Returns an address of a description as the gateway reaches it. Services behind a proxy often name themselves by their own host, or by http, and
 * then the origin of the configured address counts. Other hosts stay: tiles often have their own.
 */
export function reachable(said: string, configured: string): string {
  const found = /^(https?:)\/\/([^/?#]+)/i.exec(said)
  if (found === null) return absolute(said, configured)
  const [origin, protocol = '', host = ''] = found
  const own = new URL(configured)
  const name = host.replace(/:\d+$/, '').toLowerCase()
  const isPlain = name === own.hostname && protocol.toLowerCase() === 'http:' && own.protocol === 'https:'
  if (!isPlain && reach(name) >= reach(own.hostname)) return said
  return `${own.origin}${said.slice(origin.length)}`
}

/** Resolves a template without the loss of its names. */
function absolute(template: string, base: string): string {
  return new URL(template, base).href.replaceAll('%7B', '{').replaceAll('%7D', '}')
}

/** Orders hosts by how far away they can be reached: this machine, a container's network, a private network, the internet. */
function reach(host: string): number {
  if (/^(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[::1\])$/.test(host)) return 0
  if (!/[.:{]/.test(host)) return 1
  const isPrivate = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)[\d.]+$/.test(host)
  return isPrivate || /\.(?:local|internal|lan)$/.test(host) ? 2 : 3
}

/** Returns one template for addresses that differ only in a part of their host, with that part as `{s}`. Others than the first kind are not used. */
export function spread(templates: readonly string[]): {
  readonly template: string
  readonly subdomains: readonly string[]
} {
  const [template = ''] = templates
  const parts = templates.map(splitAtHost)
  const first = parts[0]
  const hosts = parts.flatMap((one) => (one !== null && one.rest === first?.rest ? [one.host] : []))
  const [host = ''] = hosts
  if (new Set(hosts).size < 2 || /[{}]/.test(host)) return { template, subdomains: [] }
  const shared = (at: (text: string, i: number) => string | undefined, most: number) => {
    let length = 0
    while (length < most && hosts.every((one) => at(one, length) === at(host, length))) length++
    return length
  }
  const shortest = Math.min(...hosts.map(({ length }) => length))
  const start = shared((text, i) => text[i], shortest)
  const end = shared((text, i) => text[text.length - 1 - i], shortest - start)
  const subdomains = hosts.map((one) => one.slice(start, one.length - end))
  if (!subdomains.every((one) => /^\w{0,20}$/.test(one))) return { template, subdomains: [] }
  const shape = `${host.slice(0, start)}{s}${host.slice(host.length - end)}`
  return { template: `${first?.scheme ?? ''}${shape}${first?.rest ?? ''}`, subdomains: [...new Set(subdomains)] }
}

/** null: it is no http address with a host */
function splitAtHost(address: string) {
  const scheme = /^https?:\/\//i.exec(address)?.[0]
  if (scheme === undefined) return null
  const after = address.slice(scheme.length)
  const at = after.search(/[/?#]/)
  const host = at < 0 ? after : after.slice(0, at)
  return host === '' ? null : { scheme, host, rest: after.slice(host.length) }
}
