import { knownStates } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { readPresence } from '@gateway/store/edge-presence.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import type { Bus } from './bus.js'
import { PostgresBus } from './postgres-bus.js'

export interface BusOptions {
  /** null: Postgres notifications */
  readonly redisUrl: string | null
  /** id of the installation, if it is already known; otherwise read from the store */
  readonly instanceId?: string | null
  /** time for which a silent edge process may still accept what it knows, and is therefore reported as pending */
  readonly silentSeconds: number
  readonly onTrouble: (message: string) => void
  /** called when messages arrive again, once after each failure */
  readonly onRecovered?: () => void
}

/** Opens the bus of this installation: Redis if it is configured, otherwise Postgres notifications. Needs a migrated store. */
export async function openBus(sql: Sql, options: BusOptions): Promise<Bus> {
  const { redisUrl, silentSeconds, onTrouble, onRecovered = () => {} } = options
  if (redisUrl === null) return new PostgresBus(sql, silentSeconds)
  // Loaded on demand: the Redis client is a tenth of what a process loads, and most installations do not use it.
  const { RedisBus } = await import('./redis-bus.js')
  const instanceId = options.instanceId ?? (await readInstanceKeys(sql)).instanceId
  return new RedisBus({
    url: redisUrl,
    instanceId,
    silentSeconds,
    onTrouble,
    onRecovered,
    knownStates: (states) => knownStates(sql, states),
    // Presence that edge processes without access to Redis write into the store.
    storedPresence: () => readPresence(sql, silentSeconds),
  })
}
