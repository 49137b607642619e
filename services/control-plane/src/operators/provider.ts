import type { Settings } from '@gateway/core/settings/load.js'
import * as oidc from 'openid-client'
import type { Claims } from './claims.js'

/** State that a browser keeps between its way to the provider and back. */
export interface Transaction {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export type ProviderSettings = Pick<
  Settings,
  'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret' | 'oidcRoleClaim' | 'apiBaseUrl'
>

/** Time limit; a person waits. */
const TIMEOUT_SECONDS = 5
/** Tolerated difference between the clocks of provider and gateway. */
const CLOCK_TOLERANCE_SECONDS = 30

/** An OpenID provider (OpenID Connect Core 1.0, authorization code flow with PKCE, RFC 7636). Its methods reject if it does not respond. */
export class Provider {
  readonly #settings: ProviderSettings
  #config: oidc.Configuration | null = null
  #discovering: Promise<oidc.Configuration> | null = null

  constructor(settings: ProviderSettings) {
    this.#settings = settings
  }

  get host(): string {
    return new URL(this.#settings.oidcIssuer as string).host
  }

  /** Returns the URL of the sign-in, and the state that the browser keeps meanwhile. */
  async begin(): Promise<{ readonly url: URL; readonly transaction: Transaction }> {
    // Read again for every sign-in: a provider that is down must be noticed before a browser is sent there.
    const config = await this.#discover()
    const transaction = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    }
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: `${this.#settings.apiBaseUrl}${CALLBACK_PATH}`,
      scope: this.#scope(config),
      state: transaction.state,
      nonce: transaction.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(transaction.verifier),
      code_challenge_method: 'S256',
    })
    return { url, transaction }
  }

  /**
   * Returns the claims of the person who came back. Also rejects if the provider refused, or the response does not belong to this transaction.
   * @param query of the callback, unchanged
   */
  async finish(query: string, { state, nonce, verifier }: Transaction): Promise<Claims> {
    const config = await this.#configuration()
    const tokens = await oidc.authorizationCodeGrant(
      config,
      // The URL that the browser was sent to, however it was forwarded since.
      new URL(`${this.#settings.apiBaseUrl}${CALLBACK_PATH}?${query}`),
      { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
    )
    const claims = tokens.claims() as oidc.IDToken
    if (config.serverMetadata().userinfo_endpoint === undefined) return claims
    // Some providers return groups only here.
    return { ...claims, ...(await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)) }
  }

  /** Returns the URL at which the browser ends its session at the provider; null if the provider has none. */
  async signOutUrl(backTo: string): Promise<URL | null> {
    const config = await this.#configuration()
    if (config.serverMetadata().end_session_endpoint === undefined) return null
    return oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: `${this.#settings.apiBaseUrl}${backTo}` })
  }

  async #configuration(): Promise<oidc.Configuration> {
    return this.#config ?? this.#discover()
  }

  /** Shares one request to the provider among all callers, since anyone may begin to sign in. */
  #discover(): Promise<oidc.Configuration> {
    this.#discovering ??= discover(this.#settings)
      .then((config) => {
        this.#config = config
        return config
      })
      .finally(() => {
        this.#discovering = null
      })
    return this.#discovering
  }

  /** Many providers send groups only if a scope of that name is requested, and refuse an unknown scope. */
  #scope(config: oidc.Configuration): string {
    const { oidcRoleClaim: claim } = this.#settings
    const own = config.serverMetadata().scopes_supported?.includes(claim) ? [claim] : []
    return ['openid', 'profile', 'email', ...own].join(' ')
  }
}

export const CALLBACK_PATH = '/admin/sign-in/callback'

async function discover({ oidcIssuer, oidcClientId, oidcClientSecret }: ProviderSettings): Promise<oidc.Configuration> {
  const issuer = new URL(oidcIssuer as string)
  const clientId = oidcClientId as string
  // The settings allow http only on this machine.
  const execute = issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
  const found = await oidc.discovery(issuer, clientId, {}, oidc.None(), { execute, timeout: TIMEOUT_SECONDS })
  const server = found.serverMetadata()
  const config = new oidc.Configuration(
    server,
    clientId,
    { [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authentication(oidcClientSecret, server.token_endpoint_auth_methods_supported),
  )
  config.timeout = TIMEOUT_SECONDS
  for (const allow of execute) allow(config)
  // The standard leaves the signature to TLS (OpenID Connect Core 1.0, 3.1.3.7); a proxy may end TLS before the provider.
  oidc.enableNonRepudiationChecks(config)
  return config
}

/** Returns the way to send the secret: the default (OpenID Connect Core 1.0, 9), unless the provider lists only the other one. */
function authentication(secret: string | null, methods: readonly string[] | undefined): oidc.ClientAuth {
  if (secret === null) return oidc.None()
  const inBody = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic')
  return inBody ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret)
}
