import type { PermitAnswer, PermitRequest } from '@gateway/contracts/rate-limit.js'
import type { Queryable } from './connect.js'
import { PRESENCE_SECONDS } from './edge-presence.js'

interface BucketRow {
  readonly tokenId: string
  readonly level: number
  readonly granted: number
  readonly processes: number
}

/**
 * Takes permits from token buckets that all processes share, for all requests in one statement. It uses the clock of the database; while that is set
 * back, nothing is refilled. A deleted token gets no permits.
 */
export async function takePermits(sql: Queryable, requests: readonly PermitRequest[]): Promise<PermitAnswer[]> {
  const column = (value: (request: PermitRequest) => number) => requests.map(value)
  const rows = await sql<BucketRow[]>`
    INSERT INTO rate_buckets AS bucket (token_id, per_second, burst, level, granted, filled_at)
    SELECT id, per_second, burst, burst - least(wanted, burst), least(wanted, burst), clock_timestamp()
    FROM unnest(${requests.map(({ tokenId }) => tokenId)}::uuid[], ${column((r) => r.perSecond)}::float8[], ${column((r) => r.burst)}::float8[],
                ${column((r) => r.wanted)}::float8[]) AS asked (id, per_second, burst, wanted)
    WHERE EXISTS (SELECT FROM tokens WHERE tokens.id = asked.id)
    -- One order in all processes, so that none waits for another in a circle.
    ORDER BY id
    ON CONFLICT (token_id) DO UPDATE SET (per_second, burst, level, granted, filled_at) = (
      SELECT EXCLUDED.per_second, EXCLUDED.burst, there - least(EXCLUDED.granted, floor(there)), least(EXCLUDED.granted, floor(there)), clock_timestamp()
      FROM (SELECT least(EXCLUDED.burst, bucket.level
              + EXCLUDED.per_second * greatest(0, extract(epoch FROM clock_timestamp() - bucket.filled_at))) AS there) AS filled)
    RETURNING token_id AS "tokenId", level, granted,
      (SELECT count(*)::int FROM edge_presence WHERE seen_at > now() - make_interval(secs => ${PRESENCE_SECONDS})) AS processes`
  const byToken = new Map(rows.map((row) => [row.tokenId, row]))
  return requests.map(({ tokenId, perSecond }) => {
    const row = byToken.get(tokenId)
    if (row === undefined) return { granted: 0, retryAfterMs: 1000, processes: 1 }
    return {
      granted: row.granted,
      retryAfterMs: retryAfterMs(row.level, perSecond),
      processes: row.processes,
    }
  })
}

function retryAfterMs(level: number, perSecond: number): number {
  return level >= 1 ? 0 : ((1 - level) / perSecond) * 1000
}
