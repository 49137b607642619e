import { randomBytes } from 'node:crypto'
import type { SigningKey } from '@gateway/contracts/signed-url.js'
import type { Queryable, Transaction } from './connect.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'
import { isoDates } from './sql.js'

/** A key with its secret, only for code that signs and verifies: it must not be returned or logged. */
export interface SigningSecret {
  readonly secret: Buffer
  /** null: valid until it is replaced */
  readonly expiresAt: Date | null
}

/** Returns the valid keys, newest first. */
export async function readSigningSecrets(sql: Queryable): Promise<SigningSecret[]> {
  return [
    ...(await sql<SigningSecret[]>`
      SELECT secret, expires_at AS "expiresAt" FROM signing_keys
      WHERE expires_at IS NULL OR expires_at > clock_timestamp() ORDER BY created_at DESC, id`),
  ]
}

/** Returns the secret for signing: that of the newest key that every edge knows, or else that of the newest key. */
export async function readSigningSecret(sql: Queryable): Promise<Buffer> {
  const [row] = await sql<{ secret: Buffer }[]>`
    SELECT secret FROM signing_keys WHERE expires_at IS NULL OR expires_at > clock_timestamp()
    ORDER BY signs_from <= clock_timestamp() DESC, created_at DESC LIMIT 1`
  if (row === undefined) throw new Error('the store has no signing key')
  return row.secret
}

export const SIGNING_KEY_LISTING = {
  searched: { id: 'id::text' },
  sortable: { created_at: 'created_at', signs_from: 'signs_from', expires_at: 'expires_at' },
  nullable: ['expires_at'],
  order: '-created_at',
  key: 'id',
  filters: {},
} satisfies Listing

/** Lists the valid keys without their secrets, newest first by default. */
export async function listSigningKeys(sql: Queryable, request: ListRequest = {}): Promise<Listed<SigningKey>> {
  const { items, total } = await readList<{ [K in keyof SigningKey]: unknown }>(
    sql,
    SIGNING_KEY_LISTING,
    {
      columns: sql`id, created_at, signs_from, expires_at`,
      from: sql`signing_keys`,
      where: sql`(expires_at IS NULL OR expires_at > clock_timestamp())`,
    },
    request,
  )
  return { items: items.map((row) => isoDates<SigningKey>(row)), total }
}

/**
 * Replaces the current key by a new one. The current key stays valid for `graceSeconds`, and an earlier one ends now. The new key signs after
 * `waitSeconds`, or at once if no other is left.
 */
export async function rotateSigningKey(tx: Transaction, graceSeconds: number, waitSeconds: number): Promise<void> {
  await tx`LOCK TABLE signing_keys IN SHARE ROW EXCLUSIVE MODE`
  await tx`DELETE FROM signing_keys WHERE expires_at IS NOT NULL`
  await tx`UPDATE signing_keys SET expires_at = clock_timestamp() + make_interval(secs => ${graceSeconds})`
  await tx`
    INSERT INTO signing_keys (secret, signs_from)
    VALUES (${randomBytes(32)}, clock_timestamp() + make_interval(secs => ${Math.min(waitSeconds, graceSeconds)}))`
}
