import type { Role } from '@gateway/contracts/operator.js'
import type { Queryable, Sql, Transaction } from './connect.js'

export interface OperatorSession {
  readonly name: string
  /** name of the person in the audit */
  readonly actor: string
  readonly role: Role
  readonly begunBy: 'oidc' | 'password'
  readonly expiresAt: Date
}

/** @param ttlSeconds time after which the session ends in any case */
export async function insertSession(
  tx: Transaction,
  digest: Buffer,
  { name, actor, role, begunBy }: Omit<OperatorSession, 'expiresAt'>,
  ttlSeconds: number,
): Promise<void> {
  // Expired sessions are deleted at the same time, so they never accumulate.
  await tx`DELETE FROM operator_sessions WHERE expires_at <= now()`
  await tx`
    INSERT INTO operator_sessions (digest, name, actor, role, begun_by, expires_at)
    VALUES (${digest}, ${name}, ${actor}, ${role}, ${begunBy}, now() + make_interval(secs => ${ttlSeconds}))`
}

/** Returns the session of a digest; null if it does not exist, has expired, or was not used for `idleSeconds`. */
export async function readSession(
  sql: Queryable,
  digest: Buffer,
  idleSeconds: number,
): Promise<OperatorSession | null> {
  const [row] = await sql<OperatorSession[]>`
    SELECT name, actor, role, begun_by AS "begunBy", expires_at AS "expiresAt" FROM operator_sessions
    WHERE digest = ${digest} AND expires_at > now() AND used_at > now() - make_interval(secs => ${idleSeconds})`
  return row ?? null
}

/** Minimum seconds between two writes for one session. An idle session lives longer by at most this time. */
const NOTE_EVERY = 30

/** Records that a person uses the session. */
export async function noteSessionUsed(sql: Sql, digest: Buffer): Promise<void> {
  await sql`
    UPDATE operator_sessions SET used_at = now()
    WHERE digest = ${digest} AND used_at < now() - make_interval(secs => ${NOTE_EVERY})`
}

/** Returns the person of the deleted session, or null. */
export async function deleteSession(
  tx: Transaction,
  digest: Buffer,
): Promise<{ readonly actor: string; readonly name: string } | null> {
  const [row] = await tx<{ actor: string; name: string }[]>`
    DELETE FROM operator_sessions WHERE digest = ${digest} RETURNING actor, name`
  return row ?? null
}
