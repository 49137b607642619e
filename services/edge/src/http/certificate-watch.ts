import type { Log } from '@gateway/core/logging/log.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { readTlsPair, type TlsPair } from '@gateway/core/settings/tls-pair.js'

/**
 * Interval at which two small files are read. A file watch would miss the updates of Kubernetes, which replaces a link in a parent
 * folder.
 */
const LOOK_EVERY_MS = 2_000

/** Checks whether the files of a TLS pair have changed, and applies a new pair. An invalid pair leaves the old one in use. */
export class CertificateWatch {
  readonly #settings: Settings
  readonly #log: Log
  readonly #apply: (pair: TlsPair) => Promise<void>
  readonly #timer: NodeJS.Timeout
  #inForce: string
  /** Last logged problem of a pair that cannot be used. */
  #complaint = ''
  #looking: Promise<void> = Promise.resolve()

  /** @param apply starts to use a pair; rejects if that fails */
  constructor(settings: Settings, inForce: TlsPair, log: Log, apply: (pair: TlsPair) => Promise<void>) {
    this.#settings = settings
    this.#inForce = inForce.digest
    this.#log = log
    this.#apply = apply
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look())
    }, LOOK_EVERY_MS)
  }

  /** Resolves when no check is running any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    try {
      const pair = readTlsPair(this.#settings)
      if (pair === null || pair.digest === this.#inForce) return
      await this.#apply(pair)
      this.#inForce = pair.digest
      this.#complaint = ''
      this.#log.info({ validTo: pair.certificate.validTo }, 'a new TLS certificate is in force')
    } catch (error) {
      const { message } = error as Error
      if (message === this.#complaint) return
      this.#complaint = message
      this.#log.error({ err: message }, 'the changed TLS certificate is not used; the previous one stays in force')
    }
  }
}
