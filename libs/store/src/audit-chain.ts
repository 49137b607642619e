import { createHash } from 'node:crypto'
import { pruneUnchained, readAuditEntry } from './audit.js'
import type { Queryable, Sql, Transaction } from './connect.js'

/** Retention of the audit in days: a year, and a month to read it. */
export const AUDIT_DAYS = 400

/** Reasons for a mismatch: the entry was changed, entries before it are missing, it was never chained, or entries that retention keeps are gone. */
export const MISMATCH_REASONS = ['altered', 'missing', 'inserted', 'early'] as const
export type MismatchReason = (typeof MISMATCH_REASONS)[number]

/** The first entry that does not match the chain. */
export interface AuditMismatch {
  readonly reason: MismatchReason
  /** position in the chain that is wrong or empty; null if the entry has no position */
  readonly chain_position: number | null
  /** id of the entry at that position, or after the missing ones; null, like all other fields, if the end of the chain is missing */
  readonly id: number | null
  readonly at: string | null
  readonly actor: string | null
  readonly action: string | null
  readonly subject: string | null
}

export interface AuditVerification {
  /** null: all entries match */
  readonly first_mismatch: AuditMismatch | null
  /** number of matching entries before the first mismatch */
  readonly count: number
  /** hex SHA-256 of the last entry of the chain, and its position; 64 zeros and 0 for an empty chain */
  readonly head: string
  readonly head_position: number
  /** last position that retention has deleted; 0: none */
  readonly anchor_position: number
  /** hex SHA-256 of the entry at that position; 64 zeros before the first deletion */
  readonly anchor_sha256: string
  /** when that entry was made, ISO 8601; null: nothing was deleted */
  readonly anchor_at: string | null
}

/** A head as it was sent to AUDIT_HEAD_TARGET. */
export interface SentHead {
  readonly head: string
  readonly head_position: number
  /** ISO 8601 */
  readonly at: string
}

interface Link {
  readonly position: number
  readonly sha256: Buffer
  readonly at: Date | null
}

interface ChainedRow {
  readonly id: number
  readonly position: number
  readonly previous: Buffer
  readonly sha256: Buffer
  /** the fields that are hashed after the previous digest and the position, in this order */
  readonly parts: readonly [at: string, actor: string, address: string, action: string, subject: string, detail: string]
}

/** Number of entries in one statement: a few hundred kilobytes, and a few milliseconds of hashing between two turns of the event loop. */
const READ_AT_ONCE = 500

/**
 * Verifies the chain from the oldest entry that retention has kept to the head. Uses constant memory and short statements, so entries may be
 * added and deleted meanwhile. Rejects with the reason of `signal` when it aborts.
 */
export async function verifyAudit(sql: Queryable, signal?: AbortSignal): Promise<AuditVerification> {
  // Read first: entries that are added later come after the head.
  const [head, start, stranger] = [await link(sql, 'head'), await link(sql, 'anchor'), await firstUnchained(sql)]
  const walked = await walk(sql, head, start, signal)
  const { found, count } = walked
  const isStranger = stranger !== null && (found === null || (found.id !== null && stranger < found.id))
  const early = { reason: 'early' as const, position: start.position, id: null }
  const first = (await isEarly(sql, start))
    ? early
    : isStranger
      ? { reason: 'inserted' as const, position: null, id: stranger }
      : found
  const anchor = await link(sql, 'anchor')
  return {
    first_mismatch: first === null ? null : await described(sql, first),
    count,
    head: head.sha256.toString('hex'),
    head_position: head.position,
    anchor_position: anchor.position,
    anchor_sha256: anchor.sha256.toString('hex'),
    anchor_at: anchor.at?.toISOString() ?? null,
  }
}

/** True if the anchor is younger than the retention allows, which leaves a day for clocks that differ. */
async function isEarly(sql: Queryable, { position, at }: Link): Promise<boolean> {
  if (position === 0) return false
  const [row] = await sql<{ early: boolean }[]>`
    SELECT coalesce(${at}::timestamptz > now() - make_interval(days => ${AUDIT_DAYS - 1}), true) AS early`
  return row?.early ?? true
}

/**
 * Compares a head that was sent earlier with the chain. Returns `rebuilt` if its entry has another digest or is missing, and `early` if the anchor has
 * passed it although the retention keeps what was made after it was sent.
 */
export async function compareHead(sql: Queryable, sent: SentHead): Promise<'same' | 'rebuilt' | 'early'> {
  const anchor = await link(sql, 'anchor')
  if (anchor.position > sent.head_position) {
    const isEarlyFor = await isEarly(sql, { ...anchor, at: new Date(sent.at) })
    return isEarlyFor ? 'early' : 'same'
  }
  if (sent.head_position === anchor.position) return anchor.sha256.toString('hex') === sent.head ? 'same' : 'rebuilt'
  const [row] = await sql<{ sha256: Buffer }[]>`SELECT sha256 FROM audit WHERE chain_position = ${sent.head_position}`
  return row?.sha256.toString('hex') === sent.head ? 'same' : 'rebuilt'
}

interface Found {
  readonly reason: MismatchReason
  readonly position: number | null
  readonly id: number | null
}

interface Walked {
  readonly found: Found | null
  /** number of matching entries before the mismatch */
  readonly count: number
}

async function walk(sql: Queryable, head: Link, start: Link, signal?: AbortSignal): Promise<Walked> {
  let last: Pick<Link, 'position' | 'sha256'> = start
  for (let count = 0; ; ) {
    signal?.throwIfAborted()
    const rows = await chainedAfter(sql, last.position)
    for (const row of rows) {
      if (row.position !== last.position + 1) {
        const anchor = await link(sql, 'anchor')
        // Retention has advanced meanwhile.
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
  const [row] = await sql<Link[]>`SELECT position, sha256, at FROM audit_chain WHERE name = ${name}`
  // Without an anchor or head, no entry can be said to match.
  return row ?? { position: Number.MAX_SAFE_INTEGER, sha256: Buffer.alloc(0), at: null }
}

/** Returns the id of the first entry that no control plane inserted, or null. */
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

/** Computes the SHA-256 of an entry: the previous digest in hex, then its parts, each as a netstring. */
function digestOf(previous: Buffer, { position, id, parts }: ChainedRow): Buffer {
  const hash = createHash('sha256')
  for (const part of [previous.toString('hex'), String(position), String(id), ...parts]) {
    hash.update(`${Buffer.byteLength(part)}:${part},`)
  }
  return hash.digest()
}

/** Number of entries that one transaction deletes, so that it holds its locks only briefly. */
const BATCH = 5000

/** Deletes entries older than `days` from the beginning of the chain, and keeps the digest of the last deleted one as its anchor. */
export async function pruneAudit(sql: Sql, days: number): Promise<void> {
  await pruneUnchained(sql, days)
  while (await sql.begin((tx) => pruneChained(tx, days)));
}

/** Returns true if more entries may be left to delete. */
async function pruneChained(tx: Transaction, days: number): Promise<boolean> {
  const [anchor] = await tx<Link[]>`SELECT position, sha256, at FROM audit_chain WHERE name = 'anchor' FOR UPDATE`
  const [end] = await tx<(Link & { oldest: boolean })[]>`
    SELECT chain_position AS position, sha256, at FROM audit
    WHERE chain_position > ${anchor?.position ?? 0} AND chain_position <= ${(anchor?.position ?? 0) + BATCH}
      AND chain_position < coalesce(
        (SELECT min(chain_position) FROM audit WHERE chain_position > 0 AND at >= now() - make_interval(days => ${days})),
        9223372036854775807)
    ORDER BY chain_position DESC LIMIT 1`
  if (end === undefined) return false
  const { count } = await tx`DELETE FROM audit WHERE chain_position > 0 AND chain_position <= ${end.position}`
  await tx`UPDATE audit_chain SET position = ${end.position}, sha256 = ${end.sha256}, at = ${end.at} WHERE name = 'anchor'`
  return count > 0
}
