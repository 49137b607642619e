import type { Sql } from './sql.js'

/** Current use of a connection pool. */
export interface PoolLoad {
  /** connections with a query or a transaction; if all are busy, further queries wait */
  readonly busy: number
  /** open connections without work */
  readonly idle: number
  readonly max: number
}

/** Reads a field that our patch of the client adds (config/patches). */
export function poolLoad(sql: Sql): PoolLoad {
  return { ...(sql as Sql & { load(): Omit<PoolLoad, 'max'> }).load(), max: sql.options.max }
}
