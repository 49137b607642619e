import type { LogState } from '@gateway/contracts/change.js'
import type { PermitRequest } from '@gateway/contracts/rate-limit.js'
import { knownStates } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { deletePresence, readPresence, upsertPresence } from '@gateway/store/edge-presence.js'
import { takePermits } from '@gateway/store/rate-buckets.js'
import { Announcements, announcementOf, withdrawalOf } from './announcements.js'
import type { Bus, OwnPresence, RevisionMessage } from './bus.js'
import { decodeMessage, encodeMessage } from './message.js'

const REVISION_CHANNEL = 'gateway_revision'
const APPLIED_CHANNEL = 'gateway_applied'

/** The bus over LISTEN/NOTIFY, which needs no other service than the store. The client listens again by itself after a lost connection. */
export class PostgresBus implements Bus {
  readonly medium = 'postgres'
  readonly connected = false
  readonly #sql: Sql
  readonly #silentSeconds: number
  readonly #announcements = new Announcements(
    () => this.presence(),
    (states) => knownStates(this.#sql, states),
  )
  #appliedSubscription: Promise<unknown> | null = null
  readonly #unlisteners: (() => Promise<void>)[] = []

  /** @param silentSeconds see `BusOptions` */
  constructor(sql: Sql, silentSeconds: number) {
    this.#sql = sql
    this.#silentSeconds = silentSeconds
  }

  async publish(message: RevisionMessage): Promise<void> {
    this.#announcements.noteChange(message)
    await this.#sql.notify(REVISION_CHANNEL, encodeMessage(message))
  }

  async attest(): Promise<void> {}

  async subscribe(onMessage: (message: RevisionMessage) => void, onSubscribed: () => void): Promise<void> {
    const { unlisten } = await this.#sql.listen(
      REVISION_CHANNEL,
      (payload) => {
        const message = decodeMessage(payload)
        if (message !== null) onMessage(message)
      },
      onSubscribed,
    )
    this.#unlisteners.push(unlisten)
  }

  async announce(edge: OwnPresence): Promise<void> {
    await upsertPresence(this.#sql, edge)
    await this.confirm(edge)
  }

  async confirm(edge: OwnPresence): Promise<void> {
    await this.#sql.notify(APPLIED_CHANNEL, announcementOf(edge))
  }

  async withdraw(id: string): Promise<void> {
    await deletePresence(this.#sql, id)
    await this.#sql.notify(APPLIED_CHANNEL, withdrawalOf(id))
  }

  async presence() {
    try {
      const presence = await readPresence(this.#sql, this.#silentSeconds)
      this.#announcements.noteReach(true)
      return presence
    } catch (error) {
      this.#announcements.noteReach(false)
      throw error
    }
  }

  async awaitApplied(state: LogState, timeoutMs: number) {
    await this.expectConfirmations()
    return this.#announcements.awaitApplied(state, timeoutMs)
  }

  takePermits(requests: readonly PermitRequest[]) {
    return takePermits(this.#sql, requests)
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#unlisteners.map((unlisten) => unlisten()))
  }

  /** Only a process that waits for acknowledgements subscribes to them, so that edges do not wake each other. */
  async expectConfirmations(): Promise<void> {
    this.#appliedSubscription ??= this.#sql
      .listen(APPLIED_CHANNEL, (payload) => this.#announcements.receive(payload))
      .then(({ unlisten }) => this.#unlisteners.push(unlisten))
      .catch((error) => {
        this.#appliedSubscription = null
        throw error
      })
    await this.#appliedSubscription
  }
}
