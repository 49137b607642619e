/** Methods that change nothing (RFC 9110, 9.2.1), so that a foreign page may cause them: it cannot read the answer. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface CrossSiteFacts {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly secFetchSite: string | undefined
}

/**
 * Whether a browser sends this state-changing request on behalf of a foreign page. Another origin of the same site counts as foreign:
 * who owns one subdomain does not administer the others. A client that is no browser sends neither header and passes.
 */
export function isCrossSite(facts: CrossSiteFacts, apiBaseUrl: string): boolean {
  if (SAFE_METHODS.has(facts.method)) return false
  if (facts.secFetchSite === 'cross-site' || facts.secFetchSite === 'same-site') return true
  if (facts.origin === undefined) return false
  return !isOwnOrigin(facts.origin, facts.host, apiBaseUrl)
}

/**
 * Whether a request changes nothing, or says that a page of this service sends it: for credentials that a browser adds by itself. Browsers
 * send Origin with every state-changing request.
 */
export function isOwnPage(facts: CrossSiteFacts, apiBaseUrl: string): boolean {
  if (SAFE_METHODS.has(facts.method)) return true
  if (facts.origin === undefined) return facts.secFetchSite === 'same-origin'
  return isOwnOrigin(facts.origin, facts.host, apiBaseUrl)
}

function isOwnOrigin(origin: string, host: string | undefined, apiBaseUrl: string): boolean {
  // "null" is what sandboxed frames and data: pages send.
  if (!URL.canParse(origin)) return false
  const { origin: own, protocol, host: originHost } = new URL(origin)
  if (own === new URL(apiBaseUrl).origin) return true
  // Which scheme the browser used is not known behind a TLS terminator; its default port is left out by browsers and perhaps not by Host.
  const asked = `${protocol}//${host ?? ''}`
  return host !== undefined && URL.canParse(asked) && new URL(asked).host === originHost
}
