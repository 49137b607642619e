import type { Settings } from '@gateway/core/settings/load.js'
import * as oidc from 'openid-client'
import type { Claims } from './claims.js'

/** What a browser keeps between its way to the provider and back. */
export interface Transaction {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export type ProviderSettings = Pick<
  Settings,
  'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret' | 'oidcRoleClaim' | 'apiBaseUrl'
>

/** A person waits for it. */
const TIMEOUT_SECONDS = 5
/** How far the clocks of provider and gateway may be apart. */
const CLOCK_TOLERANCE_SECONDS = 30

/** An OpenID provider (OpenID Connect Core 1.0, authorization code flow with PKCE, RFC 7636). Its methods reject where it does not answer. */
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

  /** Where the browser goes to sign in, and what it keeps meanwhile. */
  async begin(): Promise<{ readonly url: URL; readonly transaction: Transaction }> {
    // Anew for every sign-in: a provider that is down must be noticed before a browser is sent there.
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
   * Who came back. Rejects also where the provider refused, and where the answer is none to this transaction.
   * @param query of the callback, as it came
   */
  async finish(query: string, { state, nonce, verifier }: Transaction): Promise<Claims> {
    const config = await this.#configuration()
    const tokens = await oidc.authorizationCodeGrant(
      config,
      // The address that the browser was sent to, however it was forwarded since.
      new URL(`${this.#settings.apiBaseUrl}${CALLBACK_PATH}?${query}`),
      { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
    )
    const claims = tokens.claims() as oidc.IDToken
    if (config.serverMetadata().userinfo_endpoint === undefined) return claims
    // Groups are often in there alone.
    return { ...claims, ...(await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)) }
  }

  /** Where the browser goes to end its session at the provider; null: the provider offers no such address. */
  async signOutUrl(backTo: string): Promise<URL | null> {
    const config = await this.#configuration()
    if (config.serverMetadata().end_session_endpoint === undefined) return null
    return oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: `${this.#settings.apiBaseUrl}${backTo}` })
  }

  async #configuration(): Promise<oidc.Configuration> {
    return this.#config ?? this.#discover()
  }

  /** However many wait for it, the provider is asked once: anyone may begin to sign in. */
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

  /** Many providers send groups only where a scope of that name is requested, and refuse a scope that they do not know. */
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
  // The settings let http pass on this machine alone.
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
  return config
}

/** How the secret is sent: as a client's default is (OpenID Connect Core 1.0, 9), unless the provider lists only the other way. */
function authentication(secret: string | null, methods: readonly string[] | undefined): oidc.ClientAuth {
  if (secret === null) return oidc.None()
  const inBody = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic')
  return inBody ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret)
}
