import { randomBytes } from 'node:crypto'
import type { SigningKey } from '@gateway/contracts/signed-url.js'
import type { Queryable, Transaction } from './connect.js'
import { isoDates } from './iso-dates.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'

/** A key with its secret. For those who sign and verify alone: never answered, never logged. */
export interface SigningSecret {
  readonly secret: Buffer
  /** null: until it is replaced */
  readonly expiresAt: Date | null
}

/** The keys that are good now, the newest first. */
export async function readSigningSecrets(sql: Queryable): Promise<SigningSecret[]> {
  return [
    ...(await sql<SigningSecret[]>`
      SELECT secret, expires_at AS "expiresAt" FROM signing_keys
      WHERE expires_at IS NULL OR expires_at > clock_timestamp() ORDER BY created_at DESC, id`),
  ]
}

/** The secret to sign with: of the newest key that every edge knows; of the newest at all, where there is no other. */
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

/** Keys that are good now, without their secrets; the newest first where nothing else is asked for. */
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
 * Puts a new key in the place of the one that is good now, which stays so for `graceSeconds`; one before that ends now. The new one signs after
 * `waitSeconds`, or at once where no other is left.
 */
export async function rotateSigningKey(tx: Transaction, graceSeconds: number, waitSeconds: number): Promise<void> {
  await tx`LOCK TABLE signing_keys IN SHARE ROW EXCLUSIVE MODE`
  await tx`DELETE FROM signing_keys WHERE expires_at IS NOT NULL`
  await tx`UPDATE signing_keys SET expires_at = clock_timestamp() + make_interval(secs => ${graceSeconds})`
  await tx`
    INSERT INTO signing_keys (secret, signs_from)
    VALUES (${randomBytes(32)}, clock_timestamp() + make_interval(secs => ${Math.min(waitSeconds, graceSeconds)}))`
}
