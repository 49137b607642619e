/** Types of autocannon, which ships none, limited to those that the suite uses. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events'

  export interface CannonRequest {
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
  }

  export interface Client {
    setRequests(requests: readonly CannonRequest[]): void
  }

  export interface Options {
    readonly url: string
    readonly connections: number
    readonly duration?: number
    readonly amount?: number
    readonly overallRate?: number
    readonly timeout?: number
    /** milliseconds between two checks for the end */
    readonly sampleInt?: number
    readonly setupClient?: (client: Client) => void
  }

  export interface Result {
    readonly errors: number
    readonly timeouts: number
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>
  }

  export interface Instance extends EventEmitter, PromiseLike<Result> {
    stop(): void
  }

  export default function autocannon(options: Options): Instance
}
