import type { Role } from '@gateway/contracts/operator.js'
import type { Queryable, Sql, Transaction } from './connect.js'

export interface OperatorSession {
  readonly name: string
  /** how the audit names the person */
  readonly actor: string
  readonly role: Role
  readonly begunBy: 'oidc' | 'password'
  readonly expiresAt: Date
}

/** @param ttlSeconds after which the session ends, whatever happens until then */
export async function insertSession(
  tx: Transaction,
  digest: Buffer,
  { name, actor, role, begunBy }: Omit<OperatorSession, 'expiresAt'>,
  ttlSeconds: number,
): Promise<void> {
  // Those that have ended go at the same time, so that they never pile up.
  await tx`DELETE FROM operator_sessions WHERE expires_at <= now()`
  await tx`
    INSERT INTO operator_sessions (digest, name, actor, role, begun_by, expires_at)
    VALUES (${digest}, ${name}, ${actor}, ${role}, ${begunBy}, now() + make_interval(secs => ${ttlSeconds}))`
}

/** The session of this digest; null: there is none, it has expired, or nobody has used it for `idleSeconds`. */
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

/** Written at most so often for one session: what it delays is how long an idle one lives. Seconds. */
const NOTE_EVERY = 30

/** Notes that a person uses the session. */
export async function noteSessionUsed(sql: Sql, digest: Buffer): Promise<void> {
  await sql`
    UPDATE operator_sessions SET used_at = now()
    WHERE digest = ${digest} AND used_at < now() - make_interval(secs => ${NOTE_EVERY})`
}

/** Answers who it was; null: there was no such session. */
export async function deleteSession(tx: Transaction, digest: Buffer): Promise<{ readonly actor: string } | null> {
  const [row] = await tx<{ actor: string }[]>`DELETE FROM operator_sessions WHERE digest = ${digest} RETURNING actor`
  return row ?? null
}
