import { writeSync } from 'node:fs'
import type { Log } from '@gateway/logging/log.js'

/**
 * An interrupt typed under `npm start` arrives twice within moments, from the terminal and from npm; one typed again after this time
 * is somebody out of patience.
 */
const IMPATIENT_AFTER_MS = 2_000

/** Ends the process in order: what was started last is stopped first. */
export class Shutdown {
  readonly #stops: (() => Promise<void>)[] = []
  readonly #log: Log
  #since: number | null = null

  constructor(log: Log) {
    this.#log = log
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#onSignal(signal))
  }

  get begun(): boolean {
    return this.#since !== null
  }

  add(stop: () => Promise<void>): void {
    this.#stops.push(stop)
  }

  /** Says why in one line, where there is a why, stops everything and exits. */
  async run(exitCode: number, why?: string): Promise<void> {
    if (this.begun) return
    this.#since = Date.now()
    if (why !== undefined) sayLine(why)
    for (const stop of this.#stops.toReversed()) {
      await stop().catch((error: unknown) => this.#log.error({ err: error }, 'stopping failed'))
    }
    process.exit(exitCode)
  }

  #onSignal(signal: string): void {
    if (this.#since === null) {
      this.#log.info({ signal }, 'stopping')
      this.run(0)
    } else if (Date.now() - this.#since > IMPATIENT_AFTER_MS) {
      // The kernel then ends the children, which were started to die with this process.
      process.exit(1)
    }
  }
}

/** One line to whoever started this, readable without knowing about logs; synchronous, since an exit may follow. */
export function sayLine(text: string): void {
  writeSync(process.stderr.fd, `${text.replaceAll('\n', ' ')}\n`)
}
