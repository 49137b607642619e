import { createHash } from 'node:crypto'
import { pruneUnchained, readAuditEntry } from './audit.js'
import type { Queryable, Sql, Transaction } from './connect.js'

/** Why an entry does not match: its content was changed, entries before it are gone, or it was never chained. */
export const MISMATCH_REASONS = ['altered', 'missing', 'inserted'] as const
export type MismatchReason = (typeof MISMATCH_REASONS)[number]

/** The first entry that does not match. */
export interface AuditMismatch {
  readonly reason: MismatchReason
  /** the place in the chain that is wrong or empty; null: the entry has none */
  readonly chain_position: number | null
  /** of the entry there, or behind what is missing; null, as all of it: the end of the chain is missing */
  readonly id: number | null
  readonly at: string | null
  readonly actor: string | null
  readonly action: string | null
  readonly subject: string | null
}

export interface AuditVerification {
  /** null: all match */
  readonly first_mismatch: AuditMismatch | null
  /** entries that match, up to the first one that does not */
  readonly count: number
  /** hex SHA-256 of the last entry of the chain, and its place; 64 zeros and 0: it has none */
  readonly head: string
  readonly head_position: number
  /** the last place that retention has deleted; 0: none */
  readonly anchor_position: number
}

interface Link {
  readonly position: number
  readonly sha256: Buffer
}

interface ChainedRow {
  readonly id: number
  readonly position: number
  readonly previous: Buffer
  readonly sha256: Buffer
  /** what is hashed beside the previous digest and the position, in its order */
  readonly parts: readonly [at: string, actor: string, address: string, action: string, subject: string, detail: string]
}

/** Read by one statement: some hundred kilobytes, and some milliseconds of hashing in between two turns. */
const READ_AT_ONCE = 500

/**
 * Follows the chain from what retention has left to its head, in constant memory and by short statements, so that entries may be added and deleted
 * by retention meanwhile. `signal`: ends it, by rejecting with its reason.
 */
export async function verifyAudit(sql: Queryable, signal?: AbortSignal): Promise<AuditVerification> {
  // First of all: what is added later comes behind it.
  const [head, start, stranger] = [await link(sql, 'head'), await link(sql, 'anchor'), await firstUnchained(sql)]
  const walked = await walk(sql, head, start, signal)
  const { found, count } = walked
  const isStranger = stranger !== null && (found === null || (found.id !== null && stranger < found.id))
  const first = isStranger ? { reason: 'inserted' as const, position: null, id: stranger } : found
  return {
    first_mismatch: first === null ? null : await described(sql, first),
    count,
    head: head.sha256.toString('hex'),
    head_position: head.position,
    anchor_position: (await link(sql, 'anchor')).position,
  }
}

interface Found {
  readonly reason: MismatchReason
  readonly position: number | null
  readonly id: number | null
}

interface Walked {
  readonly found: Found | null
  /** entries that match before that */
  readonly count: number
}

async function walk(sql: Queryable, head: Link, start: Link, signal?: AbortSignal): Promise<Walked> {
  let last = start
  for (let count = 0; ; ) {
    signal?.throwIfAborted()
    const rows = await chainedAfter(sql, last.position)
    for (const row of rows) {
      if (row.position !== last.position + 1) {
        const anchor = await link(sql, 'anchor')
        // Retention went on meanwhile.
        if (anchor.position === row.position - 1) last = anchor
        else return { found: { reason: 'missing', position: last.position + 1, id: row.id }, count }
      }
      const digest = digestOf(last.sha256, row)
      const isHead = row.position === head.position
      const matches = row.previous.equals(last.sha256) && digest.equals(row.sha256)
      if (!matches || (isHead && !digest.equals(head.sha256)))
        return { found: { reason: 'altered', position: row.position, id: row.id }, count }
      last = { position: row.position, sha256: digest }
      count++
    }
    if (rows.length === READ_AT_ONCE) continue
    const isComplete = last.position >= head.position
    return { found: isComplete ? null : { reason: 'missing', position: last.position + 1, id: null }, count }
  }
}

async function described(sql: Queryable, { reason, position, id }: Found): Promise<AuditMismatch> {
  const entry = id === null ? null : await readAuditEntry(sql, id)
  const { at = null, actor = null, action = null, subject = null } = entry ?? {}
  return { reason, chain_position: position, id, at, actor, action, subject }
}

async function link(sql: Queryable, name: 'head' | 'anchor'): Promise<Link> {
  const [row] = await sql<Link[]>`SELECT position, sha256 FROM audit_chain WHERE name = ${name}`
  // Without it nothing can be said to match.
  return row ?? { position: Number.MAX_SAFE_INTEGER, sha256: Buffer.alloc(0) }
}

/** The first entry that no control plane has made; null: there is none. */
async function firstUnchained(sql: Queryable): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    SELECT id FROM audit
    WHERE id > (SELECT position FROM audit_chain WHERE name = 'before') AND (chain_position IS NULL OR chain_position < 1)
    ORDER BY id LIMIT 1`
  return row?.id ?? null
}

function chainedAfter(sql: Queryable, position: number): Promise<ChainedRow[]> {
  return sql<ChainedRow[]>`
    SELECT id, chain_position AS position, coalesce(previous_sha256, '') AS previous, coalesce(sha256, '') AS sha256, jsonb_build_array(
      to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), actor, address, action, subject, detail::text) AS parts
    FROM audit WHERE chain_position > ${position} AND chain_position > 0 ORDER BY chain_position LIMIT ${READ_AT_ONCE}`
}

/** The SHA-256 of an entry: of its parts as netstrings, one after the other, the digest before it in hex first. */
function digestOf(previous: Buffer, { position, id, parts }: ChainedRow): Buffer {
  const hash = createHash('sha256')
  for (const part of [previous.toString('hex'), String(position), String(id), ...parts]) {
    hash.update(`${Buffer.byteLength(part)}:${part},`)
  }
  return hash.digest()
}

/** Deleted by one transaction, so that none holds its locks for long. */
const BATCH = 5000

/** Deletes entries that are older than `days`, from the beginning of the chain on, and keeps the digest of the last one as its anchor. */
export async function pruneAudit(sql: Sql, days: number): Promise<void> {
  await pruneUnchained(sql, days)
  while (await sql.begin((tx) => pruneChained(tx, days)));
}

/** Whether there may be more. */
async function pruneChained(tx: Transaction, days: number): Promise<boolean> {
  const [anchor] = await tx<Link[]>`SELECT position, sha256 FROM audit_chain WHERE name = 'anchor' FOR UPDATE`
  const [end] = await tx<(Link & { oldest: boolean })[]>`
    SELECT chain_position AS position, sha256 FROM audit
    WHERE chain_position > ${anchor?.position ?? 0} AND chain_position <= ${(anchor?.position ?? 0) + BATCH}
      AND chain_position < coalesce(
        (SELECT min(chain_position) FROM audit WHERE chain_position > 0 AND at >= now() - make_interval(days => ${days})),
        9223372036854775807)
    ORDER BY chain_position DESC LIMIT 1`
  if (end === undefined) return false
  const { count } = await tx`DELETE FROM audit WHERE chain_position > 0 AND chain_position <= ${end.position}`
  await tx`UPDATE audit_chain SET position = ${end.position}, sha256 = ${end.sha256} WHERE name = 'anchor'`
  return count > 0
}
