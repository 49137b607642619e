import { writeSync } from 'node:fs'
import type { Log } from '@gateway/core/logging/log.js'
import type { StopSignal } from './child.js'

/**
 * An interrupt typed under `npm start` arrives twice within moments, from the terminal and from npm; one typed again after this time
 * asks to end at once.
 */
const IMPATIENT_AFTER_MS = 2_000

/** Ends the process in order: what was started last is stopped first. */
export class Shutdown {
  readonly #stops: ((signal: StopSignal) => Promise<void>)[] = []
  readonly #log: Log
  #since: number | null = null

  constructor(log: Log) {
    this.#log = log
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#onSignal(signal))
  }

  get begun(): boolean {
    return this.#since !== null
  }

  /** @param stop gets the signal with which services are to be stopped */
  add(stop: (signal: StopSignal) => Promise<void>): void {
    this.#stops.push(stop)
  }

  /** Says why in one line, where there is a why, stops everything and exits. */
  async run(exitCode: number, why?: string, signal: StopSignal = 'SIGINT'): Promise<void> {
    if (this.begun) return
    this.#since = performance.now()
    if (why !== undefined) sayLine(why)
    for (const stop of this.#stops.toReversed()) {
      await stop(signal).catch((error: unknown) => this.#log.error({ err: error }, 'stopping failed'))
    }
    process.exit(exitCode)
  }

  #onSignal(signal: NodeJS.Signals): void {
    if (this.#since === null) {
      this.#log.info({ signal }, 'stopping')
      // An interrupt or a closed terminal: there is no load balancer to notify first.
      void this.run(0, undefined, signal === 'SIGTERM' ? 'SIGTERM' : 'SIGINT')
    } else if (performance.now() - this.#since > IMPATIENT_AFTER_MS) {
      // The kernel then ends the children, which were started to die with this process.
      process.exit(1)
    }
  }
}

/** Writes one plain line to standard error; synchronous, since an exit may follow. */
export function sayLine(text: string): void {
  writeSync(process.stderr.fd, `${text.replaceAll('\n', ' ')}\n`)
}
