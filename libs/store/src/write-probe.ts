import type { Sql } from './connect.js'

/** About a megabyte: a disk that has no room for it is full, whatever room is left inside of files that exist. */
const ROWS = 10_000

/** Writes something to the store's disk that is gone afterwards. Rejects where that fails. */
export async function probeWrite(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      CREATE TEMP TABLE gateway_write_probe ON COMMIT DROP AS
      SELECT md5(n::text) || md5((-n)::text) AS noise FROM generate_series(1, ${ROWS}::int) n`
  })
}
