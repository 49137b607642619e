import { isIP } from 'node:net'
import { sentence } from '@gateway/contracts/messages.js'
import { isLoopbackHost } from '../settings/guard.js'
import type { Settings } from '../settings/load.js'
import { classifyAddress } from './address-class.js'
import { type DestinationList, destinationList } from './destination-list.js'
import { OwnEndpoints, type OwnSettings } from './own-endpoints.js'
import type { ResolvedAddress } from './resolve.js'
import { type Resolve, resolveHost } from './resolve.js'

export type GuardSettings = OwnSettings &
  Pick<
    Settings,
    'callbackAllow' | 'callbackDeny' | 'trustedProxies' | 'apiBaseUrl' | 'tilePublicBaseUrl' | 'vectorPublicBaseUrl'
  >

/** Entries as in CALLBACK_ALLOW and CALLBACK_DENY. */
export interface DestinationLists {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** The checked addresses, the only ones that may be dialled, or the reason of the refusal. */
export type Admission =
  | { readonly ok: true; readonly addresses: readonly ResolvedAddress[] }
  | { readonly ok: false; readonly reason: string }

/**
 * Decides to which destinations the service sends on behalf of others. Only http and https are allowed. Link-local, metadata, multicast,
 * unspecified and other special addresses are never allowed, nor are the service's own store, bus and listeners. Private networks are allowed,
 * since receivers live there. Loopback is allowed only if all callers are on this machine too (`isLocalService`). CALLBACK_DENY removes
 * destinations. If CALLBACK_ALLOW is not empty, only its entries remain, and an entry that names only loopback addresses admits them.
 */
export class DestinationGuard {
  readonly #allow: DestinationList
  readonly #deny: DestinationList
  readonly #loopbackAllowed: boolean
  readonly #own: OwnEndpoints
  readonly #resolve: Resolve

  /** @param lists default: the lists of callbacks */
  constructor(
    settings: GuardSettings,
    resolve: Resolve = resolveHost,
    lists: DestinationLists = { allow: settings.callbackAllow, deny: settings.callbackDeny },
  ) {
    this.#allow = destinationList(lists.allow)
    this.#deny = destinationList(lists.deny)
    this.#loopbackAllowed = this.#allow.namesLoopback || isLocalService(settings)
    this.#own = new OwnEndpoints(settings, resolve)
    this.#resolve = resolve
  }

  /** Returns the problem with a URL as written, before its host is resolved; null if no problem is found yet. */
  problemOf(text: string): string | null {
    if (!URL.canParse(text)) return sentence('said.destination_form')
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return sentence('said.destination_scheme')
    if (url.username !== '' || url.password !== '') return sentence('said.destination_credentials')
    const host = hostOf(url)
    if (this.#deny.hasHost(host)) return sentence('said.destination_host_denied')
    return isIP(host) === 0 ? null : this.#problemOfAddress(host, host)
  }

  /** Resolves the destination and checks every address of it. One forbidden address forbids the destination. */
  async admit(text: string): Promise<Admission> {
    const problem = this.problemOf(text)
    if (problem !== null) return { ok: false, reason: problem }
    const url = new URL(text)
    const host = hostOf(url)
    const addresses = await this.#resolve(host)
    if (addresses.length === 0) return { ok: false, reason: sentence('said.no_address') }
    for (const { address } of addresses) {
      const reason = this.#problemOfAddress(host, address) ?? (await this.#problemOfOwner(host, address, url))
      if (reason !== null) return { ok: false, reason }
    }
    return { ok: true, addresses }
  }

  #problemOfAddress(host: string, address: string): string | null {
    const judged = classifyAddress(address)
    if (judged.kind === 'never') return `${judged.reason} is never a destination`
    if (judged.kind === 'loopback' && !this.#loopbackAllowed) {
      return sentence('said.destination_loopback')
    }
    if (this.#deny.hasAddress(address)) return sentence('said.destination_denied')
    if (!this.#allow.empty && !this.#allow.hasHost(host) && !this.#allow.hasAddress(address)) {
      return sentence('said.destination_not_listed')
    }
    return null
  }

  async #problemOfOwner(host: string, address: string, url: URL): Promise<string | null> {
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    const owner = await this.#own.ownerOf(host, address, port)
    return owner === null ? null : `${owner} is never a destination`
  }
}

/**
 * True if the settings show that no caller is on another machine: the service listens only on loopback, no proxy is in front of it, and its
 * public URLs are loopback URLs. Callers elsewhere must not reach services on this machine's loopback.
 */
function isLocalService(settings: GuardSettings): boolean {
  const { apiHost, controlHost, apiBaseUrl, tilePublicBaseUrl, vectorPublicBaseUrl } = settings
  const publicHosts = [apiBaseUrl, tilePublicBaseUrl, vectorPublicBaseUrl].map((url) => hostOf(new URL(url)))
  return settings.trustedProxies.length === 0 && [apiHost, controlHost, ...publicHosts].every(isLoopbackHost)
}

/** Returns the host without the brackets of IPv6. `new URL` has already converted decimal, octal and hexadecimal forms to IPv4. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}
