import { createHash, randomBytes } from 'node:crypto'
import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie'

/** Enough random bytes that guessing is hopeless. */
const ID_BYTES = 32

/** Returns a value that only the browser and this service know, and the digest under which the store keeps it. */
export function newSessionId(): string {
  return randomBytes(ID_BYTES).toString('base64url')
}

export function sessionDigest(id: string): Buffer {
  return createHash('sha256').update(id).digest()
}

/** Cookies of this service. Over https their names have the prefix that keeps neighbouring hosts from planting them (RFC 6265bis, 4.1.3.2). */
export class OwnCookies {
  readonly #secure: boolean

  /** @param apiBaseUrl URL by which browsers reach this service */
  constructor(apiBaseUrl: string) {
    this.#secure = apiBaseUrl.startsWith('https:')
  }

  read(header: string | undefined, name: string): string | undefined {
    return header === undefined ? undefined : parseCookie(header)[this.#nameOf(name)]
  }

  /** Returns a value of Set-Cookie. Without `maxAge` (seconds) the cookie ends with the browser. */
  set(name: string, value: string, maxAge?: number): string {
    return this.#stringify(name, { value, ...(maxAge !== undefined && { maxAge }) })
  }

  clear(name: string): string {
    return this.#stringify(name, { value: '', maxAge: 0 })
  }

  #stringify(name: string, cookie: Pick<SetCookie, 'value' | 'maxAge'>): string {
    const kept = { path: '/', httpOnly: true, sameSite: 'lax', secure: this.#secure } as const
    return stringifySetCookie({ name: this.#nameOf(name), ...kept, ...cookie })
  }

  #nameOf(name: string): string {
    return this.#secure ? `__Host-${name}` : name
  }
}

export const SESSION_COOKIE = 'gateway_session'
