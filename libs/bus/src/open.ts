import type { Sql } from '@gateway/store/connect.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import type { Bus } from './bus.js'
import { PostgresBus } from './postgres-bus.js'
import { RedisBus } from './redis-bus.js'

/** The bus of this installation: Redis where one is configured, Postgres notifications otherwise. Needs a migrated store. */
export async function openBus(sql: Sql, redisUrl: string | null, onTrouble: (message: string) => void): Promise<Bus> {
  if (redisUrl === null) return new PostgresBus(sql)
  const { instanceId } = await readInstanceKeys(sql)
  return new RedisBus({ url: redisUrl, instanceId, onTrouble })
}
