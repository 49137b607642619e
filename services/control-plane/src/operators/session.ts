import { insertAudit } from '@gateway/store/audit.js'
import { deleteSession, insertSession, type OperatorSession } from '@gateway/store/operator-sessions.js'
import type { FastifyRequest } from 'fastify'
import { newSessionId, type OwnCookies, SESSION_COOKIE, sessionDigest } from '../platform/admin-gate/session-cookie.js'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity } from '../platform/http/app-type.js'

/** Begins a session, which replaces the browser's current one, and returns the value of its cookie. */
export async function beginSession(
  { sql, settings }: Pick<ControlContext, 'sql' | 'settings'>,
  cookies: OwnCookies,
  request: FastifyRequest,
  who: Omit<OperatorSession, 'expiresAt'>,
  address: string,
): Promise<string> {
  const id = newSessionId()
  const before = cookies.read(request.headers.cookie, SESSION_COOKIE)
  await sql.begin(async (tx) => {
    if (before !== undefined) await deleteSession(tx, sessionDigest(before))
    await insertSession(tx, sessionDigest(id), who, settings.sessionTtlSeconds)
    const detail = { name: who.name, role: who.role, by: who.begunBy }
    await insertAudit(tx, { actor: who.actor, address, action: 'session.begin', subject: who.actor, detail })
  })
  return id
}

/** Ends a session. A second call changes nothing. */
export async function endSession(
  { sql }: Pick<ControlContext, 'sql'>,
  digest: Buffer,
  admin: AdminIdentity,
): Promise<void> {
  await sql.begin(async (tx) => {
    const ended = await deleteSession(tx, digest)
    if (ended === null) return
    const { actor: subject, name } = ended
    await insertAudit(tx, { ...admin, action: 'session.end', subject, detail: { name } })
  })
}
