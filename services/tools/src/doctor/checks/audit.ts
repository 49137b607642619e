import { compareHead, verifyAudit } from '@gateway/store/audit-chain.js'
import type { Sql } from '@gateway/store/connect.js'
import { auditHeadReceivedAt, sentAuditHeads } from '@gateway/store/deliveries.js'
import { readTargets } from '@gateway/store/targets.js'
import { type Finding, fault, ok, warn } from '../finding.js'

/** The head is sent daily: if none has been received for so long, all attempts of a day have failed. */
const HEAD_LATE_MS = 2 * 86_400_000

/** The chain of the audit, and whether its head is kept elsewhere. `headTarget`: the code in AUDIT_HEAD_TARGET; null: it is not set. */
export async function checkAudit(sql: Sql, headTarget: string | null): Promise<Finding[]> {
  const findings = [await checkChain(sql), ...(await checkSentHeads(sql))]
  return headTarget === null ? findings : [...findings, await checkHead(sql, headTarget)]
}

/** The heads that were sent and returned before, as far as the store keeps them, against the chain and its anchor. */
async function checkSentHeads(sql: Sql): Promise<Finding[]> {
  for (const sent of await sentAuditHeads(sql)) {
    const outcome = await compareHead(sql, sent)
    if (outcome === 'same') continue
    const found =
      outcome === 'early' ? 'the beginning of the audit was removed too early' : 'the audit was written again'
    const advice = 'somebody has changed the audit in the database: compare it with the heads that the target keeps'
    return [fault('audit', `${found}: the head that was sent at ${sent.at} does not fit it`, advice)]
  }
  return []
}

async function checkChain(sql: Sql): Promise<Finding> {
  const { first_mismatch: mismatch, count, head } = await verifyAudit(sql)
  if (mismatch === null) return ok('audit', `${count} entries of the chain match; its head is ${head}`)
  const { reason, id, chain_position: position } = mismatch
  const which = id === null ? `at position ${position} of the chain` : `${id}`
  return fault(
    'audit',
    `the entry ${which} does not match the chain (${reason})`,
    'somebody has changed the audit in the database: compare it with a backup, and find out who had access',
  )
}

async function checkHead(sql: Sql, code: string): Promise<Finding> {
  const [target] = await readTargets(sql, code)
  if (target === undefined || target.kind === 'purge' || !target.enabled) {
    const found = target === undefined ? 'names no target' : 'names a target that is disabled or of kind purge'
    const advice = 'create or enable a target of kind http, directory or bucket'
    return fault('audit', `AUDIT_HEAD_TARGET ${found}: ${code}`, advice)
  }
  const at = await auditHeadReceivedAt(sql, code)
  // biome-ignore lint/plugin: calendar
  if (at !== null && Date.now() - at.getTime() < HEAD_LATE_MS)
    return ok('audit', `the target ${code} received the head at ${at.toISOString()}`)
  const advice = 'look at its messages: GET /api/v1/admin/event-records'
  return warn('audit', `the target ${code} has received no head of the audit for two days`, advice)
}
