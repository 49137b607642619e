import type { Log } from '@gateway/core/logging/log.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { readTlsPair, type TlsPair } from '@gateway/core/settings/tls-pair.js'

/** Two small files are read so often. Watching them instead would miss what Kubernetes does, which swaps a link in a folder above. */
const LOOK_EVERY_MS = 2_000

/** Looks whether the files of a TLS pair have changed, and puts a new pair in force. One that is none leaves the old one in force. */
export class CertificateWatch {
  readonly #settings: Settings
  readonly #log: Log
  readonly #apply: (pair: TlsPair) => Promise<void>
  readonly #timer: NodeJS.Timeout
  #inForce: string
  /** what was said last of a pair that cannot be used */
  #complaint = ''
  #looking: Promise<void> = Promise.resolve()

  /** @param apply puts a pair in force; it rejects where that is not possible */
  constructor(settings: Settings, inForce: TlsPair, log: Log, apply: (pair: TlsPair) => Promise<void>) {
    this.#settings = settings
    this.#inForce = inForce.digest
    this.#log = log
    this.#apply = apply
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look())
    }, LOOK_EVERY_MS)
  }

  /** Resolves when nothing is being put in force any more. */
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
      this.#log.info({ validTo: pair.certificate.validTo }, 'another TLS certificate is in force')
    } catch (error) {
      const { message } = error as Error
      if (message === this.#complaint) return
      this.#complaint = message
      this.#log.error({ err: message }, 'the changed TLS certificate is not used; the one before stays in force')
    }
  }
}
