import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import OidcProvider from 'oidc-provider'

export interface Person {
  readonly name: string
  readonly email: string
  readonly groups: readonly string[]
}

const CLIENT_ID = 'gateway'
const CLIENT_SECRET = 'the-secret-of-the-gateway'

/** A real OpenID provider at another site than the gateway, which is at 127.0.0.1. Signing in needs no password. */
export class IdentityProvider {
  readonly issuer: string
  readonly #server: Server
  readonly #people: Readonly<Record<string, Person>>
  #answer: RequestListener = (_request, response) => void response.writeHead(503).end()

  private constructor(server: Server, people: Readonly<Record<string, Person>>) {
    this.#server = server
    this.#people = people
    this.issuer = `http://localhost:${(server.address() as AddressInfo).port}`
    server.on('request', (request, response) => this.#answer(request, response))
  }

  /** @param people by the names under which they sign in */
  static async start(people: Readonly<Record<string, Person>>): Promise<IdentityProvider> {
    const server = createServer()
    // Listens on the address that the name resolves to.
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
    return new IdentityProvider(server, people)
  }

  /** The settings of a gateway whose operators sign in here. */
  get settings() {
    return { OIDC_ISSUER: this.issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET }
  }

  /** Registers the gateway as a client. The provider serves no requests before. */
  register(gatewayUrl: string): void {
    const client = {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [`${gatewayUrl}/admin/sign-in/callback`],
      post_logout_redirect_uris: [`${gatewayUrl}/admin/sign-in?ended`],
    }
    const provider = new OidcProvider(this.issuer, {
      clients: [client],
      claims: { openid: ['sub'], profile: ['name'], email: ['email'], groups: ['groups'] },
      cookies: { keys: ['of the tests'] },
      pkce: { required: () => true },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, ...this.#people[id] }),
      }),
    })
    this.#answer = provider.callback()
  }

  /** Stops the provider. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }
}
