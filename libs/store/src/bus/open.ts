import { knownStates } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { readPresence } from '@gateway/store/edge-presence.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import type { Bus } from './bus.js'
import { PostgresBus } from './postgres-bus.js'

export interface BusOptions {
  /** null: Postgres notifications */
  readonly redisUrl: string | null
  /** where it is known already; else the store is asked */
  readonly instanceId?: string | null
  /** for how long an edge process that fell silent may still accept what it knows, and is therefore named */
  readonly silentSeconds: number
  readonly onTrouble: (message: string) => void
  /** called when messages arrive again, once after each trouble */
  readonly onRecovered?: () => void
}

/** The bus of this installation: Redis where one is configured, Postgres notifications otherwise. Needs a migrated store. */
export async function openBus(sql: Sql, options: BusOptions): Promise<Bus> {
  const { redisUrl, silentSeconds, onTrouble, onRecovered = () => {} } = options
  if (redisUrl === null) return new PostgresBus(sql, silentSeconds)
  // Its client is a tenth of what a process loads, and most have no use for it.
  const { RedisBus } = await import('./redis-bus.js')
  const instanceId = options.instanceId ?? (await readInstanceKeys(sql)).instanceId
  return new RedisBus({
    url: redisUrl,
    instanceId,
    silentSeconds,
    onTrouble,
    onRecovered,
    knownStates: (states) => knownStates(sql, states),
    // What an edge process that cannot reach Redis writes instead.
    storedPresence: () => readPresence(sql, silentSeconds),
  })
}
