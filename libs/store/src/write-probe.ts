import type { Sql } from './connect.js'

/** Rows of about a megabyte: a disk without this space is full, even if existing files have room inside. */
const ROWS = 10_000

/** Writes temporary data to the store's disk. Rejects if that fails. */
export async function probeWrite(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      CREATE TEMP TABLE gateway_write_probe ON COMMIT DROP AS
      SELECT md5(n::text) || md5((-n)::text) AS noise FROM generate_series(1, ${ROWS}::int) n`
  })
}
