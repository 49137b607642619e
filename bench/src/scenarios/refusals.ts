import { createToken } from '@gateway/access/token-format.js'
import { openStore } from '@gateway/store/connect.js'
import { mistyped } from '../load/bad-tokens.js'
import { bearer, type Context, type Figures, type Scenario, shoot, tilePath } from './scenario.js'

/** As many requests as tokens: each is asked for once. */
const TOKENS = 20_000
/** Postgres shows what a connection has counted when it has been idle for a second. */
const COUNTED_AFTER_MS = 1_500

export const mistypedTokens: Scenario = {
  name: 'auth-mistyped',
  title: 'tokens with a wrong checksum: 401 without asking the store',
  run: (context) => flood(context, mistyped),
}

export const unknownTokens: Scenario = {
  name: 'auth-unknown',
  title: 'well-formed tokens that nobody has: 401, the store asked at most once for each',
  run: (context) => flood(context, createToken),
}

async function flood(context: Context, makeToken: () => string): Promise<Figures> {
  const path = tilePath('mix', context.data.hotTile)
  const requests = Array.from({ length: TOKENS }, () => ({ path, headers: bearer(makeToken()) }))
  const before = await asked(context)
  const figures = await shoot(context, requests, { amount: TOKENS, status: 401 })
  const after = await asked(context)
  return {
    ...figures,
    'tokens asked of the store': after.tokens - before.tokens,
    'look-ups in the token table': after.lookUps - before.lookUps,
  }
}

/** What the edge says that it asked, and what the store says. */
async function asked({ gateway }: Context): Promise<{ tokens: number; lookUps: number }> {
  await new Promise((resolve) => setTimeout(resolve, COUNTED_AFTER_MS))
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
  const sql = openStore(gateway.databaseUrl, { applicationName: 'bench', maxConnections: 1 })
  try {
    const [row] = await sql<{ look_ups: string }[]>`
      SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0) AS look_ups FROM pg_stat_user_tables WHERE relname = 'tokens'`
    return {
      tokens: Number(/^gateway_token_cache_misses_total (\d+)/m.exec(metrics)?.[1] ?? Number.NaN),
      lookUps: Number(row?.look_ups ?? Number.NaN),
    }
  } finally {
    await sql.end()
  }
}
