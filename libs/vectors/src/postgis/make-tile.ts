import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Database } from './connect.js'
import type { AskedTile, MadeTile } from './messages.js'
import { SHARES, tileOfFunction, tileOfTable } from './tile-statements.js'

const pack = promisify(gzip)
/** Of 9: a third of the time of the default. Tiles are kept for a minute, and the database shall be the limit. */
const LEVEL = 3

/** Limits of a tile, as of those of files: bytes in gzip, and features. */
const MAX_BYTES = 500_000
const MAX_FEATURES = 200_000
/** Part of the limit that a thinned tile aims at, because features differ in size, and how often it is tried. */
const AIM = 0.85
const MAX_ATTEMPTS = 5

type Running = ReturnType<Database['unsafe']>

/**
 * Makes a tile. One that is too large is made again of fewer features, evenly, until it fits.
 * @param running called with each statement, so that it can be cancelled
 */
export async function makeTile(
  sql: Pick<Database, 'unsafe'>,
  { relation, wish, query }: AskedTile,
  running: (statement: Running) => void,
): Promise<MadeTile> {
  const read = async (share: number) => {
    const { text, values } =
      relation.what === 'table'
        ? tileOfTable(relation, { ...wish, share })
        : tileOfFunction(relation, { ...wish, share }, query)
    // A transaction, in which personal tiles are made, cannot go on after a prepared statement whose table has changed since.
    const statement = sql.unsafe(text, values as (string | null)[], { prepare: !relation.isPersonal })
    running(statement)
    const [row] = (await statement) as unknown as { tile: Uint8Array | null; features: number }[]
    const tile = row?.tile ?? new Uint8Array(0)
    return { packed: tile.length === 0 ? null : await pack(tile, { level: LEVEL }), features: row?.features ?? 0 }
  }
  let share = SHARES
  let made = await read(share)
  let total = made.features
  for (let attempt = 0; attempt < MAX_ATTEMPTS && relation.what === 'table' && share > 1; attempt++) {
    const excess = Math.max((made.packed?.length ?? 0) / MAX_BYTES, made.features >= MAX_FEATURES ? 2 : 0)
    if (excess <= 1) break
    share = Math.max(1, Math.floor((share * AIM) / excess))
    made = await read(share)
    // The number of all features is not known of a tile with more than the limit.
    if (total >= MAX_FEATURES) total = Math.max(MAX_FEATURES, Math.round((made.features * SHARES) / share))
  }
  return { bytes: made.packed, leftOut: Math.max(0, total - made.features) }
}
