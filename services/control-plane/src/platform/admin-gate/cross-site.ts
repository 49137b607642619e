/** Methods that change nothing (RFC 9110, 9.2.1). A foreign page may cause them, since it cannot read the response. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface CrossSiteFacts {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly secFetchSite: string | undefined
}

/**
 * True if a browser sends this state-changing request on behalf of a foreign page. Another origin of the same site counts as foreign: the owner
 * of one subdomain does not administer the others. Clients other than browsers send neither header, and pass: a browser sends Origin with each such
 * request, and no session cookie from a foreign page (SameSite).
 */
export function isCrossSite(facts: CrossSiteFacts, apiBaseUrl: string): boolean {
  if (SAFE_METHODS.has(facts.method)) return false
  if (facts.secFetchSite === 'cross-site' || facts.secFetchSite === 'same-site') return true
  if (facts.origin === undefined) return false
  return !isOwnOrigin(facts.origin, facts.host, apiBaseUrl)
}

function isOwnOrigin(origin: string, host: string | undefined, apiBaseUrl: string): boolean {
  // Sandboxed frames and data: pages send "null".
  if (!URL.canParse(origin)) return false
  const { origin: own, protocol, host: originHost } = new URL(origin)
  if (own === new URL(apiBaseUrl).origin) return true
  // Behind a TLS terminator the browser's scheme is unknown. Browsers omit its default port, and Host may contain it.
  const asked = `${protocol}//${host ?? ''}`
  return host !== undefined && URL.canParse(asked) && new URL(asked).host === originHost
}
