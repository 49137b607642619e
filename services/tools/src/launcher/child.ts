import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Log } from '@gateway/core/logging/log.js'
import { KillableChild } from '@gateway/core/processes/killable-child.js'
import { isReady } from '@gateway/core/processes/readiness.js'
import { failuresInARow, type RestartPolicy, restartDelayMs } from '@gateway/core/processes/restart-policy.js'
import { EXIT_REFUSED, StartRefusal } from '@gateway/core/settings/refusal.js'

/** SIGINT: at once, without the notice period for load balancers. */
export type StopSignal = 'SIGTERM' | 'SIGINT'

export interface ChildSpec {
  readonly name: string
  /** absolute path of the compiled main file */
  readonly script: string
  readonly env: NodeJS.ProcessEnv
  /** URL that returns 200 when the child serves */
  readonly readyUrl: string
  /** time for its end after a stop signal, before it is killed */
  readonly stopWithinMs: number
}

/** Number of starts of a child that has not served yet: enough for a transient cause, and few enough to report a permanent one soon. */
const FIRST_ATTEMPTS = 3

/** Time limit of a start. On a healthy machine nothing takes this long; migrations of a large store are the longest part. */
const READY_WITHIN_MS = 120_000
const LOOK_AGAIN_MS = 100

/** The first restart comes at once, but without a busy loop. A child that keeps failing costs one start in ten seconds. */
const RESTARTS: RestartPolicy = { soundAfterMs: 30_000, freeRestarts: 0, firstDelayMs: 100, longestDelayMs: 10_000 }

/** A service that runs as a child process, and is restarted when it dies or its event loop does not turn. */
export class Child {
  readonly #spec: ChildSpec
  readonly #log: Log
  readonly #onGivenUp: (reason: Error) => void
  #process: KillableChild | null = null
  #ended: Promise<void> = Promise.resolve()
  #failures = 0
  #stopping = false
  #wasReady = false

  /** @param onGivenUp called if the child refuses its settings, or ended repeatedly before it ever served */
  constructor(spec: ChildSpec, log: Log, onGivenUp: (reason: Error) => void) {
    this.#spec = spec
    this.#log = log
    this.#onGivenUp = onGivenUp
    this.#launch()
  }

  /** Resolves when the child serves. Throws StartRefusal if it takes too long. */
  async ready(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS
    while (!(await isReady(this.#spec.readyUrl))) {
      if (this.#stopping) return
      if (performance.now() > deadline)
        throw new StartRefusal(
          `the ${this.#spec.name} is not ready after ${READY_WITHIN_MS / 1000} s (${this.#spec.readyUrl})`,
        )
      await sleep(LOOK_AGAIN_MS)
    }
    this.#wasReady = true
  }

  /** Asks the child by SIGTERM or SIGINT to finish its work and end. Resolves when it has ended. */
  async stop(signal: StopSignal): Promise<void> {
    this.#stopping = true
    const child = this.#process
    child?.process.kill(signal)
    const killer = setTimeout(() => {
      this.#log.warn({ child: this.#spec.name }, 'child did not end in time and is killed')
      child?.process.kill('SIGKILL')
    }, this.#spec.stopWithinMs)
    await this.#ended
    clearTimeout(killer)
  }

  #launch(): void {
    this.#ended = new Promise((resolve) => {
      const child = new KillableChild(
        {
          module: pathToFileURL(this.#spec.script),
          nodeOptions: ['--enable-source-maps'],
          env: this.#spec.env,
          // The channel carries the heartbeat. If the kernel cannot end the child with this process, the closed channel does.
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
          endsWithParent: 'TERM',
          // A separate process group: an interrupt from the terminal reaches only the launcher, which stops its children in order.
          detached: true,
        },
        {
          silent: () => {
            this.#log.error({ child: this.#spec.name }, 'child does not turn its event loop and is killed')
            child.process.kill('SIGKILL')
          },
          ended: (how, code) => {
            resolve()
            if (!this.#stopping) this.#afterDeath(how, code, performance.now() - child.startedAtMs)
          },
        },
      )
      this.#process = child
    })
  }

  #afterDeath(how: string, code: number | null, ranMs: number): void {
    const { name } = this.#spec
    this.#failures = failuresInARow(this.#failures, ranMs, RESTARTS)
    const reason = this.#reasonToGiveUp(how, code)
    if (reason !== null) {
      this.#onGivenUp(new StartRefusal(reason))
      return
    }
    const delayMs = restartDelayMs(this.#failures, RESTARTS)
    this.#log.warn({ child: name, how, delay_ms: delayMs }, 'child ended and is started again')
    setTimeout(() => {
      if (!this.#stopping) this.#launch()
    }, delayMs)
  }

  #reasonToGiveUp(how: string, code: number | null): string | null {
    // The child has printed the refused setting itself.
    if (code === EXIT_REFUSED) return `the ${this.#spec.name} refuses to start`
    if (this.#wasReady || this.#failures < FIRST_ATTEMPTS) return null
    return `the ${this.#spec.name} does not start: it ended ${FIRST_ATTEMPTS} times (${how})`
  }
}
