/** What the suite uses of autocannon, which brings no types. */
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
    /** milliseconds between looks at whether it is over */
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
