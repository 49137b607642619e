import { networkInterfaces } from 'node:os'
import { addressHosts } from '../settings/address-hosts.js'
import type { Settings } from '../settings/load.js'
import { canonicalAddress, classifyAddress } from './address-class.js'
import { plainHost } from './destination-list.js'
import type { Resolve } from './resolve.js'

interface Endpoint {
  readonly name: string
  readonly host: string
  readonly port: number
}

export type OwnSettings = Pick<
  Settings,
  'databaseUrl' | 'databaseReadUrl' | 'redisUrl' | 'apiHost' | 'apiPort' | 'controlHost' | 'controlPort'
>

/** The service's own store, bus and listeners. Nothing that callers make the service send may go there. */
export class OwnEndpoints {
  readonly #endpoints: readonly Endpoint[]
  readonly #resolve: Resolve

  constructor(settings: OwnSettings, resolve: Resolve) {
    this.#resolve = resolve
    this.#endpoints = [
      ...endpointOf('the store', settings.databaseUrl, 5432),
      ...endpointOf('the store', settings.databaseReadUrl, 5432),
      ...endpointOf('the bus', settings.redisUrl, settings.redisUrl?.includes('+sentinel:') ? 26_379 : 6379),
      { name: 'this service', host: listenAddress(settings.apiHost), port: settings.apiPort },
      { name: 'this service', host: listenAddress(settings.controlHost), port: settings.controlPort },
    ]
  }

  /** Returns the owner of a checked address and port, or null if it is not an endpoint of this service. */
  async ownerOf(host: string, address: string, port: number): Promise<string | null> {
    for (const endpoint of this.#endpoints) {
      if (endpoint.port !== port) continue
      if (plainHost(endpoint.host) === plainHost(host)) return endpoint.name
      // A name that does not resolve leads nowhere at the moment.
      const addresses = await this.#resolve(endpoint.host).catch(() => [])
      if (addresses.some((own) => sameMachine(own.address, address))) return endpoint.name
    }
    return null
  }
}

function endpointOf(name: string, address: string | null, defaultPort: number): Endpoint[] {
  const hosts = address === null ? null : addressHosts(address)
  return (hosts ?? []).map(({ host, port }) => ({ name, host, port: port ?? defaultPort }))
}

/** A listener at one address of a machine may also listen at the others, so all addresses of this machine count as one. */
function sameMachine(own: string, other: string): boolean {
  return canonical(own) === canonical(other) || (isThisMachine(own) && isThisMachine(other))
}

function isThisMachine(address: string): boolean {
  if (classifyAddress(address).kind === 'loopback') return true
  const text = canonical(address)
  if (text === '0.0.0.0' || text === '::') return true
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => canonical(own.address) === text))
}

function canonical(address: string): string {
  return canonicalAddress(address)?.address.toString() ?? address
}

function listenAddress(host: string): string {
  return host === '*' ? '0.0.0.0' : host.replace(/^\[|\]$/g, '')
}
