import type { Server } from 'node:http'

/**
 * The listener gives every request 30 s to arrive, which a gigabyte does not need to keep; Node has that limit for a server alone, not for
 * a request. While an admitted import is being read it is off; the limit on headers, and the import's own on silence, stay.
 */
export class ReceivingTime {
  readonly #server: Server
  readonly #usual: number
  #imports = 0

  constructor(server: Server) {
    this.#server = server
    this.#usual = server.requestTimeout
  }

  async suspended<T>(work: () => Promise<T>): Promise<T> {
    this.#imports++
    this.#server.requestTimeout = 0
    try {
      return await work()
    } finally {
      this.#imports--
      if (this.#imports === 0) this.#server.requestTimeout = this.#usual
    }
  }
}
