import { isLoopbackHost } from '@gateway/core/settings/guard.js'
import { reachableHost, type Settings } from '@gateway/core/settings/load.js'
import ipaddr from 'ipaddr.js'
import { type Finding, fault, ok, warn } from '../finding.js'

/** A shorter prefix is wider than any private network. */
const WIDEST_IPV4 = 8
const WIDEST_IPV6 = 16

/** Checks whether the settings about proxies fit those about addresses. */
export async function checkProxies(settings: Settings): Promise<readonly Finding[]> {
  const { trustedProxies, apiBaseUrl, apiHost, apiPort, adminAllowRemote } = settings
  const tooWide = trustedProxies.filter(isTooWide)
  if (tooWide.length > 0)
    return [
      fault(
        'proxies',
        `TRUSTED_PROXIES has ${tooWide.join(', ')}, so nearly every caller may claim any address`,
        'name only the addresses of the proxies',
      ),
    ]
  const base = new URL(apiBaseUrl)
  const own = new URL(`http://${reachableHost(apiHost)}:${apiPort}`)
  const isBehindProxy = base.protocol === 'https:' ? settings.tlsCertFile === null : base.host !== own.host
  if (isBehindProxy && !isLoopbackHost(base.hostname) && trustedProxies.length === 0)
    return [
      warn(
        'proxies',
        `API_BASE_URL is ${apiBaseUrl}, the edge listens for plain HTTP on ${own.host}, and TRUSTED_PROXIES is empty`,
        'add the proxy in front to TRUSTED_PROXIES; otherwise all callers appear to have its address (administration, allowed_networks)',
      ),
    ]
  if (adminAllowRemote && base.protocol === 'http:' && !isLoopbackHost(base.hostname))
    return [
      warn(
        'proxies',
        `ADMIN_ALLOW_REMOTE=true with ${apiBaseUrl}: credentials and tokens cross the network unencrypted`,
        'put TLS in front (docs/operate.md), or set TLS_CERT_FILE and TLS_KEY_FILE, and an https API_BASE_URL',
      ),
    ]
  const named = trustedProxies.length === 0 ? 'no proxy is trusted' : `trusts ${trustedProxies.join(', ')}`
  return [ok('proxies', `${named}; callers use ${apiBaseUrl}`)]
}

function isTooWide(range: string): boolean {
  if (!ipaddr.isValidCIDR(range)) return false
  const [address, bits] = ipaddr.parseCIDR(range)
  return bits < (address.kind() === 'ipv4' ? WIDEST_IPV4 : WIDEST_IPV6)
}
