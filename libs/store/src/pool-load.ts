import type { Sql } from './sql.js'

/** How a pool of connections is used at this moment. */
export interface PoolLoad {
  /** connections with a query or a transaction; once all are, further queries wait behind those */
  readonly busy: number
  /** connections that stand and have nothing to do */
  readonly idle: number
  readonly max: number
}

/** By what our patch of the client adds (config/patches). */
export function poolLoad(sql: Sql): PoolLoad {
  return { ...(sql as Sql & { load(): Omit<PoolLoad, 'max'> }).load(), max: sql.options.max }
}
