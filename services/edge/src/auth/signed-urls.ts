import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import {
  openedBy,
  openedStyle,
  type PresentedSignature,
  type SignedResource,
  signatureQuery,
  signStyle,
} from '@gateway/core/access/signed-url.js'
import type { SigningSecret } from '@gateway/store/signing-keys.js'
import { LRUCache } from 'lru-cache'

/** Limit: remembered signatures, some 500 bytes each. */
const MAX_KNOWN = 10_000

export const SIGNATURE_WRONG = refuse('signature_wrong', coded('signature_wrong'))
const EXPIRED = refuse('signature_expired', coded('signature_expired'))

/** A verified signature. */
export interface KnownSignature extends SignedResource {
  readonly ok: true
  readonly expiresAtMs: number
  /** Text of the native table: the parameters in their fixed order. */
  readonly text: string
}

/** Verifies signed URLs with the keys of the store, which are read ahead, and caches the results. */
export class SignedUrls {
  #keys: readonly SigningSecret[] | null = null
  readonly #known: LRUCache<string, KnownSignature>

  /** @param onForgotten called with the text of each signature that leaves the cache */
  constructor(onForgotten: (text: string) => void = () => {}) {
    this.#known = new LRUCache({ max: MAX_KNOWN, dispose: (_, text) => onForgotten(text) })
  }

  /** True if the keys were read at least once. */
  get ready(): boolean {
    return this.#keys !== null
  }

  /** Replaces the keys, and drops all cached results, so that none depends on a removed key. */
  setKeys(keys: readonly SigningSecret[]): void {
    this.#keys = keys
    this.#known.clear()
  }

  /**
   * Verifies that a signature currently opens a version, or the default one (null), of a basemap. Refusals in their order: it was made for
   * something else (401), or it has expired (401).
   */
  verify(
    presented: PresentedSignature | 'malformed',
    code: string,
    version: string | null,
    nowMs: number,
  ): KnownSignature | Refusal {
    if (presented === 'malformed') return SIGNATURE_WRONG
    const text = signatureQuery(presented)
    const known = this.#known.get(text) ?? this.#remember(text, presented, code, version, nowMs)
    const isOpened = known?.code === code && (known.version === null || known.version === version)
    if (known === null || !isOpened) return SIGNATURE_WRONG
    return nowMs < known.expiresAtMs ? known : EXPIRED
  }

  /** Returns the code of the style that a signature currently opens, with everything that the style needs. Refuses like `verify`. */
  verifyStyle(presented: PresentedSignature, nowMs: number): { readonly ok: true; readonly style: string } | Refusal {
    for (const { secret, expiresAt } of this.#keys ?? []) {
      const keyEndsMs = expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
      const style = nowMs < keyEndsMs ? openedStyle(secret, presented) : null
      if (style === null) continue
      return nowMs < Math.min(keyEndsMs, Number(presented.exp) * 1000) ? { ok: true, style } : EXPIRED
    }
    return SIGNATURE_WRONG
  }

  /** Returns the parameters that open a style until `expiresAt`, in seconds since 1970; null while no key is known. */
  signStyle(code: string, expiresAt: number): string | null {
    const lasting = this.#keys?.filter((key) => key.expiresAt === null || key.expiresAt.getTime() > expiresAt * 1000)
    // Every process of this host knows the oldest key.
    const key = lasting?.at(-1)
    return key === undefined ? null : signatureQuery(signStyle(key.secret, code, expiresAt))
  }

  #remember(
    text: string,
    presented: PresentedSignature,
    code: string,
    version: string | null,
    nowMs: number,
  ): KnownSignature | null {
    for (const { secret, expiresAt } of this.#keys ?? []) {
      const keyEndsMs = expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
      const opened = nowMs < keyEndsMs ? openedBy(secret, presented, code, version) : null
      if (opened === null) continue
      const expiresAtMs = Math.min(keyEndsMs, Number(presented.exp) * 1000)
      const known: KnownSignature = { ok: true, ...opened, expiresAtMs, text }
      this.#known.set(text, known)
      return known
    }
    return null
  }
}
