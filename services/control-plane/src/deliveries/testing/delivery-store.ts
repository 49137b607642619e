import { randomUUID } from 'node:crypto'
import { createLog, type Log } from '@gateway/core/logging/log.js'
import { guardWith } from '@gateway/core/outgoing/testing/guards.js'
import { openStore, type Sql } from '@gateway/store/connect.js'
import { type Delivery, insertCallback, readDelivery } from '@gateway/store/deliveries.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import { listAttempts, type StoredAttempt } from '@gateway/store/delivery-retention.js'
import { type FreshStore, freshStore } from '@gateway/store/testing/fresh-store.js'
import { deliver } from '../deliver.js'
import type { Outcome } from '../outcome.js'
import { DeliveryRunner } from '../runner/runner.js'

const noStore = () => {
  throw new Error('no delivery of these tests goes to a bucket')
}

const log: Log = createLog('test', 'silent')

export interface RunnerSettings {
  readonly waitsSeconds?: readonly number[]
  /** replaces real sending in tests of leases */
  readonly deliver?: (claimed: ClaimedDelivery, signal: AbortSignal) => Promise<Outcome>
  readonly drainMs?: number
}

/** A separate database with deliveries, and the runners of any number of control planes. */
export class DeliveryStore {
  readonly #store: FreshStore
  readonly #stops: (() => Promise<void>)[] = []

  private constructor(store: FreshStore) {
    this.#store = store
  }

  /** @param serverUrl TEST_POSTGRES_URL of the test run */
  static async open(serverUrl: string | undefined): Promise<DeliveryStore> {
    return new DeliveryStore(await freshStore(serverUrl))
  }

  get sql(): Sql {
    return this.#store.sql
  }

  /** Starts a runner with separate connections, like another process; the returned function stops it. */
  startRunner(settings: RunnerSettings = {}): () => Promise<void> {
    const sql = openStore(this.#store.url, { applicationName: 'runner', maxConnections: 10 })
    const stop = new AbortController()
    const payloadOf = async ({ body }: ClaimedDelivery) => ({ ok: true, event: { job: body }, bundle: null }) as const
    const sender = {
      now: Date.now,
      guard: guardWith(),
      payloadOf,
      openStore: noStore,
      scratch: '/',
      mail: { url: null, from: null },
    }
    const runner = new DeliveryRunner({
      sql,
      log,
      now: Date.now,
      waitsSeconds: settings.waitsSeconds ?? [0.2, 0.4, 0.4],
      drainMs: settings.drainMs ?? 5000,
      deliver: settings.deliver ?? ((claimed, signal) => deliver(sender, claimed, signal)),
      ended: () => {},
    })
    const running = runner.run(stop.signal)
    const end = async () => {
      stop.abort()
      await running
      await sql.end()
    }
    this.#stops.push(end)
    return end
  }

  async enqueue(url: string, destination = new URL(url).origin): Promise<string> {
    const jobId = randomUUID()
    await this.sql.begin((tx) => insertCallback(tx, { jobId, url, destination, job: { id: jobId } }))
    const [row] = await this.sql<{ id: string }[]>`SELECT id FROM deliveries WHERE job_id = ${jobId}`
    return (row as { id: string }).id
  }

  async read(id: string): Promise<Delivery> {
    return (await readDelivery(this.sql, 'slice_callback', id)) as Delivery
  }

  attempts(id: string): Promise<StoredAttempt[]> {
    return listAttempts(this.sql, id)
  }

  /** Waits until a delivery is finished, or until the given condition holds. */
  async until(id: string, reached: (delivery: Delivery) => boolean = ({ dueAt }) => dueAt === null): Promise<Delivery> {
    for (;;) {
      const delivery = await this.read(id)
      if (reached(delivery)) return delivery
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#stops.splice(0).map((stop) => stop()))
    await this.#store.drop()
  }
}
