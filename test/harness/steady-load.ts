import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Number of concurrent requests. */
const CALLERS = 8
const ANSWER_WITHIN_MS = 15_000
/** Pause of a caller between two requests; ms. Without it, the load takes a processor from what is tested. */
const PAUSE_MS = 10

export interface LoadResult {
  readonly answered: number
  /** results other than 200, with their counts */
  readonly failures: Readonly<Record<string, number>>
}

/** Callers that send requests in sequence over kept connections until stopped. Nothing is retried. */
export class SteadyLoad {
  readonly #addresses: readonly string[]
  readonly #headers: Record<string, string>
  readonly #agent = new Agent({ keepAlive: true })
  readonly #callers: Promise<void>[]
  readonly #failures = new Map<string, number>()
  #answered = 0
  #stopped = false

  constructor(addresses: readonly string[], headers: Record<string, string>) {
    this.#addresses = addresses
    this.#headers = headers
    this.#callers = Array.from({ length: CALLERS }, (_, i) => this.#run(i))
  }

  get answered(): number {
    return this.#answered
  }

  async stop(): Promise<LoadResult> {
    this.#stopped = true
    await Promise.all(this.#callers)
    this.#agent.destroy()
    return { answered: this.#answered, failures: Object.fromEntries(this.#failures) }
  }

  async #run(offset: number): Promise<void> {
    for (let i = offset; !this.#stopped; i++) {
      const failure = await this.#ask(this.#addresses[i % this.#addresses.length] as string)
      if (failure === null) this.#answered++
      else this.#failures.set(failure, (this.#failures.get(failure) ?? 0) + 1)
      await sleep(PAUSE_MS)
    }
  }

  /** null: a complete response with 200 */
  #ask(address: string): Promise<string | null> {
    return new Promise((resolve) => {
      const options = { agent: this.#agent, headers: this.#headers, timeout: ANSWER_WITHIN_MS }
      const request = get(address, options, (answer) => {
        answer.on('error', (error) => resolve(`cut: ${error.message}`))
        let body = ''
        answer.on('data', (part) => {
          if (answer.statusCode !== 200) body += part
        })
        answer.on('end', () => resolve(answer.statusCode === 200 ? null : `${answer.statusCode} ${body}`))
      })
      request.on('timeout', () => request.destroy(new Error('no answer in time')))
      request.on('error', (error) => resolve(error.message))
    })
  }
}
