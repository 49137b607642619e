import type { Bounds } from '@gateway/contracts/basemap.js'
import type { RateLimit } from '@gateway/contracts/rate-limit.js'
import { type DecidedToken, GRANT_ALL, type Scope, type Token, type TokenKind } from '@gateway/contracts/token.js'
import type { Queryable, Transaction } from './connect.js'
import { type Keys, type Listed, type Listing, type ListRequest, readKeys, readList } from './listing.js'
import { isoDates } from './sql.js'

/** A token as the database returns it, with Dates for its times. */
type TokenRow = { readonly [K in keyof Token]: unknown }

export interface NewToken {
  readonly name: string
  readonly prefix: string
  readonly digest: Buffer
  readonly basemapCodes: readonly string[]
  readonly vectorCodes: readonly string[]
  /** default: all layers */
  readonly layerCodes?: readonly string[]
  readonly scopes: readonly Scope[]
  readonly expiresAt: Date | null
  /** default: empty, which allows any */
  readonly allowedOrigins?: readonly string[]
  readonly allowedNetworks?: readonly string[]
  readonly rateLimit?: RateLimit | null
  /** default: everywhere */
  readonly bounds?: Bounds | null
  /** default: `service` */
  readonly kind?: TokenKind
}

export interface StoredToken extends DecidedToken {
  /** hex SHA-256 of the plaintext */
  readonly digest: string
}

/** A token with all digests by which it is known. */
export interface LockedToken extends Token {
  /** hex SHA-256 of its plaintext, and of the one before its last rotation */
  readonly digests: readonly string[]
}

export async function insertToken(tx: Transaction, token: NewToken): Promise<Token> {
  const [row] = await tx<TokenRow[]>`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, layer_codes, scopes, expires_at, allowed_origins, allowed_networks,
      rate_limit, bounds, kind)
    VALUES (${token.name}, ${token.prefix}, ${token.digest}, ${token.basemapCodes as string[]}, ${token.vectorCodes as string[]},
            ${[...(token.layerCodes ?? [GRANT_ALL])]}, ${token.scopes as string[]}, ${token.expiresAt}, ${[...(token.allowedOrigins ?? [])]}, ${[...(token.allowedNetworks ?? [])]},
            ${jsonOrNull(tx, token.rateLimit ?? null)}, ${token.bounds ?? null}, ${token.kind ?? 'service'})
    RETURNING ${columns(tx)}`
  return isoDates<Token>(row as TokenRow)
}

/** Disables a token. A disabled token keeps its time. Returns null if the token does not exist. */
export async function disableToken(tx: Transaction, id: string): Promise<Token | null> {
  const [row] = await tx<TokenRow[]>`
    UPDATE tokens SET disabled_at = coalesce(disabled_at, now()) WHERE id = ${id} RETURNING ${columns(tx)}`
  return row === undefined ? null : isoDates<Token>(row)
}

/** True if a token is disabled or expired. `nowMs`: milliseconds since 1970. */
export function hasEnded(
  { disabled_at, expires_at }: Pick<Token, 'disabled_at' | 'expires_at'>,
  nowMs: number,
): boolean {
  return disabled_at !== null || (expires_at !== null && Date.parse(expires_at) <= nowMs)
}

/** Locks a token that an operator issued until the transaction ends. Returns null if it does not exist. */
export async function lockToken(tx: Transaction, id: string): Promise<LockedToken | null> {
  const [row] = await tx<(TokenRow & { digests: string[] })[]>`
    SELECT ${columns(tx)}, array_remove(ARRAY[encode(digest, 'hex'), encode(previous_digest, 'hex')], NULL) AS digests
    FROM tokens WHERE id = ${id} AND NOT preview FOR UPDATE`
  return row === undefined ? null : isoDates<LockedToken>(row)
}

export async function readToken(sql: Queryable, id: string): Promise<Token | null> {
  const [row] = await sql<TokenRow[]>`SELECT ${columns(sql)} FROM tokens WHERE id = ${id} AND NOT preview`
  return row === undefined ? null : isoDates<Token>(row)
}

/** The settings of a token that an operator may change. */
export type TokenSettings = Required<Omit<NewToken, 'prefix' | 'digest' | 'kind'>>

export async function updateToken(tx: Transaction, id: string, settings: TokenSettings): Promise<Token> {
  const [row] = await tx<TokenRow[]>`
    UPDATE tokens SET name = ${settings.name}, basemap_codes = ${settings.basemapCodes as string[]},
      vector_codes = ${settings.vectorCodes as string[]}, layer_codes = ${settings.layerCodes as string[]}, scopes = ${settings.scopes as string[]}, expires_at = ${settings.expiresAt},
      allowed_origins = ${settings.allowedOrigins as string[]}, allowed_networks = ${settings.allowedNetworks as string[]},
      rate_limit = ${jsonOrNull(tx, settings.rateLimit)}, bounds = ${settings.bounds}
    WHERE id = ${id} RETURNING ${columns(tx)}`
  return isoDates<Token>(row as TokenRow)
}

export interface Rotation {
  readonly digest: Buffer
  readonly prefix: string
  /** end of the previous digest; null: at once */
  readonly graceUntil: Date | null
}

export async function rotateToken(
  tx: Transaction,
  id: string,
  { digest, prefix, graceUntil }: Rotation,
): Promise<Token> {
  const [row] = await tx<TokenRow[]>`
    UPDATE tokens SET digest = ${digest}, prefix = ${prefix}, previous_expires_at = ${graceUntil},
      previous_digest = CASE WHEN ${graceUntil}::timestamptz IS NOT NULL THEN digest END,
      previous_prefix = CASE WHEN ${graceUntil}::timestamptz IS NOT NULL THEN prefix END
    WHERE id = ${id} RETURNING ${columns(tx)}`
  return isoDates<Token>(row as TokenRow)
}

/** Days for which an expired preview link stays listed, so that operators can see what was shared. */
const ENDED_LINKS_KEPT_DAYS = 30

/** Deletes the tokens of preview links that expired long ago. */
export async function pruneLinkTokens(tx: Transaction): Promise<void> {
  await tx`DELETE FROM tokens WHERE kind = 'preview' AND expires_at < now() - make_interval(days => ${ENDED_LINKS_KEPT_DAYS})`
}

export async function deleteToken(tx: Transaction, id: string): Promise<void> {
  await tx`DELETE FROM tokens WHERE id = ${id}`
}

export const TOKEN_LISTING = {
  searched: { name: 'name', prefix: 'prefix', 'the prefix before the last rotation': 'previous_prefix' },
  sortable: {
    created_at: 'created_at',
    name: 'lower(name)',
    prefix: 'prefix',
    expires_at: 'expires_at',
    disabled_at: 'disabled_at',
    first_used_at: 'first_used_at',
    last_used_at: 'last_used_at',
  },
  nullable: ['expires_at', 'disabled_at', 'first_used_at', 'last_used_at'],
  order: '-created_at',
  key: 'id',
  filters: {
    kind: 'kind = $',
    status:
      "CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END = $",
    scope: '$ = ANY(scopes)',
    basemap_code: "basemap_codes && ARRAY[$, '*']",
    vector_code: "vector_codes && ARRAY[$, '*']",
    layer_code: "layer_codes && ARRAY[$, '*'] AND 'slice' = ANY(scopes)",
    expires_after: '(expires_at IS NULL OR expires_at > $::timestamptz)',
    expires_within:
      'disabled_at IS NULL AND expires_at > now() AND expires_at <= now() + make_interval(secs => $::float8)',
  },
} satisfies Listing

/**
 * Lists tokens that operators issued, and those of preview links only if `kind` asks for them. The short-lived tokens of the console's previews
 * are not listed.
 */
export async function listTokens(sql: Queryable, request: ListRequest): Promise<Listed<Token>> {
  const selection = { columns: columns(sql), ...listedTokens(sql) }
  const { items, total } = await readList<TokenRow>(sql, TOKEN_LISTING, selection, withKind(request))
  return { items: items.map((row) => isoDates<Token>(row)), total }
}

/** Returns the ids of all tokens that match a list request. */
export function findTokenIds(sql: Queryable, request: ListRequest, most: number): Promise<Keys> {
  return readKeys(sql, TOKEN_LISTING, { columns: sql`id AS key`, ...listedTokens(sql) }, withKind(request), most)
}

function listedTokens(sql: Queryable) {
  return { from: sql`tokens`, where: sql`NOT preview` }
}

function withKind(request: ListRequest): ListRequest {
  return { ...request, kind: request.kind ?? ('service' satisfies TokenKind) }
}

/**
 * Finds the tokens with these digests, in one query for any number. Unknown digests are omitted. By its previous digest a token expires
 * at the end of the rotation's grace period, if not earlier.
 */
export async function findTokensByDigest(sql: Queryable, digests: readonly Buffer[]): Promise<StoredToken[]> {
  const hex = digests.map((digest) => digest.toString('hex'))
  const rows = await sql<(TokenRow & { digest: string; graceUntil: Date | null })[]>`
    WITH wanted AS (SELECT decode(hex, 'hex') AS digest FROM unnest(${hex}::text[]) AS hex)
    SELECT ${ownColumns(sql)}, preview, encode(tokens.digest, 'hex') AS digest, NULL::timestamptz AS "graceUntil"
    FROM tokens WHERE digest IN (SELECT digest FROM wanted)
    UNION ALL
    SELECT ${ownColumns(sql)}, preview, encode(previous_digest, 'hex'), previous_expires_at
    FROM tokens WHERE previous_digest IN (SELECT digest FROM wanted)`
  return rows.map(({ graceUntil, ...row }) => {
    const token = isoDates<StoredToken>(row)
    return graceUntil === null ? token : { ...token, expires_at: earlier(token.expires_at, graceUntil.toISOString()) }
  })
}

/** The position of a token in the order of `readUsableTokens`. `usedAt` has the database's microseconds, which a `Date` would lose. */
export interface UsableAfter {
  readonly usedAt: string
  readonly id: string
}

export interface UsablePage {
  readonly tokens: readonly StoredToken[]
  /** position after which the next page begins; null: this is the last page */
  readonly next: UsableAfter | null
}

/**
 * Reads one page of the tokens that are neither disabled nor expired, with all their digests, those first that were used last. The index
 * `tokens_used_last` serves it. A token that is used between two pages can move to the front, and is then on neither.
 */
export async function readUsableTokens(sql: Queryable, after: UsableAfter | null, limit: number): Promise<UsablePage> {
  const usedAt = sql`coalesce(last_used_at, '-infinity'::timestamptz)`
  const isAfter =
    after === null ? sql`` : sql`AND (${usedAt}, id) < (${after.usedAt}::text::timestamptz, ${after.id}::uuid)`
  const rows = await sql<{ digests: string[]; id: string; usedAt: string }[]>`
    SELECT array_remove(ARRAY[encode(digest, 'hex'), encode(previous_digest, 'hex')], NULL) AS digests, id, ${usedAt}::text AS "usedAt"
    FROM tokens WHERE disabled_at IS NULL AND (expires_at IS NULL OR expires_at > now()) ${isAfter}
    ORDER BY ${usedAt} DESC, id DESC LIMIT ${limit}`
  const digests = rows.flatMap((row) => row.digests)
  const tokens = await findTokensByDigest(
    sql,
    digests.map((digest) => Buffer.from(digest, 'hex')),
  )
  const last = rows.at(-1)
  return { tokens, next: last === undefined || rows.length < limit ? null : { usedAt: last.usedAt, id: last.id } }
}

/** `expiresAt` null: never. Both are in UTC and in the same form. */
function earlier(expiresAt: string | null, graceUntil: string): string {
  return expiresAt !== null && expiresAt < graceUntil ? expiresAt : graceUntil
}

export interface TokenUse {
  readonly at: Date
  /** address of the client, as far as it can be trusted; null: unknown, which overwrites nothing */
  readonly from: string | null
}

/** Maximum length of an address from a trusted proxy; IPv6 with a zone is shorter. */
const MAX_ADDRESS = 100

/**
 * Records the first and last use of tokens, and the client's address. An older time never overwrites a newer one. Rows are locked in the
 * order of their ids, as in all transactions that change several tokens, so that two of them never wait for each other.
 */
export async function noteTokensUsed(sql: Queryable, used: ReadonlyMap<string, TokenUse>): Promise<void> {
  if (used.size === 0) return
  const uses = [...used.values()]
  await sql`
    WITH locked AS (SELECT id FROM tokens WHERE id = ANY(${[...used.keys()]}::uuid[]) ORDER BY id FOR NO KEY UPDATE)
    UPDATE tokens SET last_used_at = greatest(last_used_at, used.at),
      last_used_from = CASE WHEN used.at >= coalesce(last_used_at, used.at) THEN coalesce(used.address, last_used_from) ELSE last_used_from END,
      first_used_from = CASE WHEN last_used_at IS NULL OR used.at < first_used_at THEN coalesce(used.address, first_used_from) ELSE first_used_from END,
      first_used_at = CASE WHEN last_used_at IS NULL OR first_used_at IS NOT NULL THEN least(first_used_at, used.at) END
    FROM locked JOIN unnest(${[...used.keys()]}::uuid[], ${uses.map(({ at }) => at.toISOString())}::timestamptz[],
      ${uses.map(({ from }) => from?.slice(0, MAX_ADDRESS) ?? null)}::text[]) AS used (id, at, address)
      ON locked.id = used.id
    WHERE tokens.id = locked.id`
}

/** Deletes the addresses from which tokens were used. */
export async function forgetTokenAddresses(sql: Queryable): Promise<void> {
  await sql`
    UPDATE tokens SET first_used_from = NULL, last_used_from = NULL
    WHERE first_used_from IS NOT NULL OR last_used_from IS NOT NULL`
}

function jsonOrNull(sql: Queryable, limit: RateLimit | null) {
  return limit === null ? null : sql.json({ ...limit })
}

function columns(sql: Queryable) {
  const lastAt = sql`to_char(last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return sql`${ownColumns(sql)}, (SELECT max(last_at) FROM token_refusals WHERE token_id = tokens.id) AS last_refused_at,
    (SELECT coalesce(jsonb_object_agg(reason, jsonb_build_object('requests', requests, 'last_at', ${lastAt})), '{}')
     FROM token_refusals WHERE token_id = tokens.id) AS refused_by`
}

function ownColumns(sql: Queryable) {
  return sql`id, name, prefix, basemap_codes, vector_codes, layer_codes, scopes, allowed_origins, allowed_networks, rate_limit, bounds, expires_at, disabled_at, created_at, first_used_at, first_used_from, last_used_at, last_used_from, previous_prefix, previous_expires_at`
}

export interface NewPreviewToken {
  readonly name: string
  readonly prefix: string
  readonly digest: Buffer
  readonly basemapCodes: readonly string[]
  readonly vectorCodes: readonly string[]
  readonly expiresAt: Date
}

/** Inserts a read-only token for a preview. Expired ones are deleted at the same time, so they never accumulate. */
export async function insertPreviewToken(tx: Transaction, token: NewPreviewToken): Promise<void> {
  await tx`DELETE FROM tokens WHERE preview AND expires_at < now()`
  await tx`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, expires_at, preview)
    VALUES (${token.name}, ${token.prefix}, ${token.digest}, ${token.basemapCodes as string[]}, ${token.vectorCodes as string[]},
            ARRAY['read'], ${token.expiresAt}, true)`
}
