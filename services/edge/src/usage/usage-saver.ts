import { setTimeout as sleep } from 'node:timers/promises'
import type { UsageRow } from '@gateway/contracts/usage.js'
import type { Log } from '@gateway/core/logging/log.js'
import { TroubleLog } from '@gateway/core/logging/trouble-log.js'
import { openStore } from '@gateway/store/connect.js'
import { addUsage } from '@gateway/store/usage.js'
import { StoreLink } from '../sync/store-link.js'
import { USAGE_SAVE_MS, UsageLedger } from './usage-ledger.js'

/** Time-out in ms, longer than a busy store needs for a batch: a batch that timed out is sent again unchanged. */
const SAVE_TIMEOUT_MS = 5_000

/** Pause in ms after a failure: a lost connection is usually followed by a good one. */
const RETRY_MS = 2_000
/** Interval in ms of log lines, longer than that of two attempts. */
const TOLD_EVERY_MS = 4 * USAGE_SAVE_MS

/**
 * Writes the usage of this host's workers into the store, over its own connection, so that no read waits for it or is cancelled with it.
 */
export class UsageSaver {
  readonly #store: StoreLink
  readonly #ledger: UsageLedger
  readonly #log: Log
  readonly #trouble: TroubleLog
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(databaseUrl: string, log: Log) {
    this.#log = log
    this.#trouble = new TroubleLog(log, 'usage cannot be written; it is kept for later', TOLD_EVERY_MS)
    this.#store = new StoreLink(
      () => openStore(databaseUrl, { applicationName: 'gateway-edge-usage', maxConnections: 1 }),
      () => {},
    )
    this.#ledger = new UsageLedger((writer, batch, rows) =>
      this.#store.query((sql) => addUsage(sql, writer, batch, rows), SAVE_TIMEOUT_MS),
    )
    this.#saveIn(USAGE_SAVE_MS)
  }

  /** @param isUrgent writes them at once */
  add(rows: readonly UsageRow[], isUrgent = false): void {
    this.#ledger.add(rows)
    if (isUrgent) void this.#save()
  }

  /** Writes the remaining usage, if the store accepts it within `ms`. */
  async stop(ms: number): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const late = sleep(ms)
    // A second attempt, if the running one fails, because it may be only the connection.
    for (let attempt = 0; attempt < 2 && !this.#ledger.isEmpty; attempt++) await Promise.race([this.#save(), late])
    if (!this.#ledger.isEmpty) this.#log.warn('the store did not take the last usage, which is lost')
    await this.#store.close()
  }

  #saveIn(ms: number): void {
    this.#timer = setTimeout(async () => {
      const saved = await this.#save()
      if (!this.#stopped) this.#saveIn(saved ? USAGE_SAVE_MS : RETRY_MS)
    }, ms)
  }

  /** Resolves with true if the store has everything. Never rejects. */
  async #save(): Promise<boolean> {
    const lost = this.#ledger.takeLost()
    if (lost > 0)
      this.#log.warn({ requests: lost }, 'too much usage waits for the store; the usage of these requests is lost')
    try {
      await this.#ledger.save()
      return true
    } catch (error) {
      this.#trouble.note({ err: (error as Error).message })
      return false
    }
  }
}
