import type { Scope, Token } from '@gateway/contracts/token.js'
import type { Queryable, Transaction } from './connect.js'

interface TokenRow {
  id: string
  name: string
  prefix: string
  basemap_codes: string[]
  vector_codes: string[]
  scopes: Scope[]
  expires_at: Date | null
  disabled_at: Date | null
  created_at: Date
  last_used_at: Date | null
}

export interface NewToken {
  readonly name: string
  readonly prefix: string
  readonly digest: Buffer
  readonly basemapCodes: readonly string[]
  readonly vectorCodes: readonly string[]
  readonly scopes: readonly Scope[]
  readonly expiresAt: Date | null
}

export interface StoredToken extends Token {
  /** hex SHA-256 of the plaintext */
  readonly digest: string
}

export async function insertToken(tx: Transaction, token: NewToken): Promise<Token> {
  const [row] = await tx<TokenRow[]>`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, expires_at)
    VALUES (${token.name}, ${token.prefix}, ${token.digest}, ${token.basemapCodes as string[]}, ${token.vectorCodes as string[]},
            ${token.scopes as string[]}, ${token.expiresAt})
    RETURNING ${columns(tx)}`
  return toToken(row as TokenRow)
}

/** Marks a token disabled; one that already is keeps its moment. null: no such token. */
export async function disableToken(tx: Transaction, id: string): Promise<StoredToken | null> {
  const [row] = await tx<(TokenRow & { digest: Buffer })[]>`
    UPDATE tokens SET disabled_at = coalesce(disabled_at, now()) WHERE id = ${id} RETURNING ${columns(tx)}, digest`
  return row === undefined ? null : { ...toToken(row), digest: row.digest.toString('hex') }
}

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** Tokens that operators issued; what the console's previews use comes and goes by itself and is not listed. */
export async function listTokens(sql: Queryable, page: Page): Promise<{ items: Token[]; total: number }> {
  const rows = await sql<TokenRow[]>`
    SELECT ${columns(sql)} FROM tokens WHERE NOT preview ORDER BY created_at DESC, id
    LIMIT ${page.limit} OFFSET ${page.offset}`
  const [count] = await sql<{ n: number }[]>`SELECT count(*) AS n FROM tokens WHERE NOT preview`
  return { items: rows.map(toToken), total: count?.n ?? 0 }
}

/** The tokens with these digests, in one query however many; a digest that no token has is left out. */
export async function findTokensByDigest(sql: Queryable, digests: readonly Buffer[]): Promise<StoredToken[]> {
  const rows = await sql<(TokenRow & { digest: Buffer })[]>`
    SELECT ${columns(sql)}, digest FROM tokens
    WHERE digest IN (SELECT decode(hex, 'hex') FROM unnest(${digests.map((d) => d.toString('hex'))}::text[]) AS hex)`
  return rows.map((row) => ({ ...toToken(row), digest: row.digest.toString('hex') }))
}

/** Notes when tokens were last used; an older moment never overwrites a newer one. */
export async function noteTokensUsed(sql: Queryable, used: ReadonlyMap<string, Date>): Promise<void> {
  if (used.size === 0) return
  await sql`
    UPDATE tokens SET last_used_at = greatest(last_used_at, used.at)
    FROM unnest(${[...used.keys()]}::uuid[], ${[...used.values()].map((d) => d.toISOString())}::timestamptz[]) AS used (id, at)
    WHERE tokens.id = used.id`
}

function columns(sql: Queryable) {
  return sql`id, name, prefix, basemap_codes, vector_codes, scopes, expires_at, disabled_at, created_at, last_used_at`
}

function toToken(row: TokenRow): Token {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    basemap_codes: row.basemap_codes,
    vector_codes: row.vector_codes,
    scopes: row.scopes,
    expires_at: row.expires_at?.toISOString() ?? null,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
  }
}
