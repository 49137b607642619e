import { setTimeout as sleep } from 'node:timers/promises'
import type { DisabledToken } from '@gateway/contracts/edge.js'
import type { Sql } from '@gateway/store/connect.js'
import { cpuSeconds, memory, writtenBytes } from '../machine.js'
import { ADMIN_TOKEN, type Stand } from './stand.js'

export interface ScaleFigures {
  readonly edges: number
  readonly perSecond: number
  readonly changes: number
  readonly refused: number
  /** number of changes whose response did not list all edges as confirmed */
  readonly unconfirmed: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly worstMs: number
  /** fractions of one core */
  readonly cpu: Readonly<Record<'store' | 'bus' | 'control' | 'edges', number>>
  readonly transactionsPerSecond: number
  readonly walKbPerChange: number
  readonly readyMs: number
  /** sum of the peaks of resident memory of the largest edge's processes in bytes; for simulated edges a share of the process */
  readonly edgeBytes: number
  /** written to the disk by each edge for a change, on average */
  readonly writtenKbPerChange: number
}

interface Answered {
  readonly ms: number
  readonly status: number
  readonly confirmed: number
}

/** Time in which new edges have written their kept catalog, so that they are idle. */
const SETTLED_MS = 30_000

/** Disables tokens at a fixed rate without waiting for responses, for this many seconds. Rate 0: the idle installation. */
export async function measure(stand: Stand, edges: number, perSecond: number, seconds: number): Promise<ScaleFigures> {
  const running = await stand.edges(edges)
  try {
    const changes = Math.round(perSecond * seconds)
    const warmUp = Math.min(100, perSecond * 2)
    const ids = await activeTokens(stand.sql, changes + warmUp)
    await disableAll(stand.url, ids.splice(0, warmUp), perSecond)
    const families = running.families()
    const pids = families.flat()
    if (perSecond === 0) await sleep(SETTLED_MS)
    const before = await state(stand, pids)
    const answers = await disableAll(stand.url, ids, perSecond)
    if (perSecond === 0) await sleep(seconds * 1000)
    const after = await state(stand, pids)
    const largest = Math.max(...families.map((family) => memory(family, 'peak')))
    const edgeBytes = (largest * families.length) / edges
    return { ...figures(edges, perSecond, answers, before, after), readyMs: running.readyMs, edgeBytes }
  } finally {
    await running.stop()
  }
}

async function activeTokens(sql: Sql, count: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`SELECT id FROM tokens WHERE disabled_at IS NULL LIMIT ${count}`
  return rows.map(({ id }) => id)
}

async function disableAll(url: string, ids: readonly string[], perSecond: number): Promise<Answered[]> {
  const begun = performance.now()
  const calls: Promise<Answered>[] = []
  for (const [i, id] of ids.entries()) {
    const early = begun + (i * 1000) / perSecond - performance.now()
    if (early > 0) await sleep(early)
    calls.push(disable(url, id))
  }
  return Promise.all(calls)
}

async function disable(url: string, id: string): Promise<Answered> {
  const begun = performance.now()
  const answer = await fetch(`${url}/api/v1/admin/tokens/${id}/disable`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })
  const body = (await answer.json()) as Partial<DisabledToken>
  return {
    ms: performance.now() - begun,
    status: answer.status,
    confirmed: body.confirmed?.length ?? 0,
  }
}

interface Moment {
  readonly at: number
  readonly cpu: ScaleFigures['cpu']
  readonly transactions: number
  readonly walBytes: number
  readonly writtenBytes: number
}

async function state({ sql, pids }: Stand, edges: readonly number[]): Promise<Moment> {
  const { store, bus, control } = pids()
  const [row] = await sql<{ transactions: number; walBytes: number }[]>`
    SELECT (xact_commit + xact_rollback)::float8 AS transactions, (pg_current_wal_insert_lsn() - '0/0')::float8 AS "walBytes"
    FROM pg_stat_database WHERE datname = current_database()`
  const cpu = {
    store: cpuSeconds(store),
    bus: cpuSeconds(bus),
    control: cpuSeconds(control),
    edges: cpuSeconds(edges),
  }
  return {
    at: performance.now(),
    cpu,
    transactions: row?.transactions ?? 0,
    walBytes: row?.walBytes ?? 0,
    writtenBytes: writtenBytes(edges),
  }
}

function figures(edges: number, perSecond: number, answers: Answered[], before: Moment, after: Moment) {
  const elapsed = (after.at - before.at) / 1000
  const sorted = answers.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0
  const used = (part: keyof Moment['cpu']): number => (after.cpu[part] - before.cpu[part]) / elapsed
  return {
    edges,
    perSecond,
    changes: answers.length,
    refused: answers.filter(({ status }) => status !== 200).length,
    unconfirmed: answers.filter(({ status, confirmed }) => status === 200 && confirmed < edges).length,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    worstMs: at(1),
    cpu: {
      store: used('store'),
      bus: used('bus'),
      control: used('control'),
      edges: used('edges'),
    },
    transactionsPerSecond: (after.transactions - before.transactions) / elapsed,
    writtenKbPerChange:
      answers.length === 0 ? 0 : (after.writtenBytes - before.writtenBytes) / 1024 / answers.length / edges,
    walKbPerChange: answers.length === 0 ? 0 : (after.walBytes - before.walBytes) / 1024 / answers.length,
  }
}
