import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { TrafficHistory, TrafficPoint } from '@gateway/contracts/traffic.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { agoColumn, type Column } from '../../ui/columns.js'
import { NameLink } from '../../ui/name.js'
import { Status } from '../../ui/status.js'
import { useFormats } from '../../ui/use-formats.js'
import { type Amount, rateOf, shareFromMemory } from '../overview/rates.js'

export interface EdgeRow extends EdgePresence {
  readonly span: TrafficPoint | undefined
  /** number of revisions that this process is behind the newest one */
  readonly behind: number
}

/** Returns a row for each process with its current traffic. */
export function edgeRows(edges: readonly EdgePresence[], traffic: TrafficHistory | undefined): readonly EdgeRow[] {
  const newest = Math.max(...edges.map((edge) => edge.applied_revision))
  return edges.map((edge) => ({
    ...edge,
    span: traffic?.edges.find(({ id }) => id === edge.id),
    behind: newest - edge.applied_revision,
  }))
}

/** Processes that lag or fail first, then the slowest ones. */
export function worstFirst(rows: readonly EdgeRow[]): readonly EdgeRow[] {
  const failing = ({ span }: EdgeRow) => (span === undefined ? 0 : rateOf([span], 'server_errors'))
  const slow = ({ span }: EdgeRow) => span?.latency?.p95 ?? 0
  return [...rows].sort((a, b) => b.behind - a.behind || failing(b) - failing(a) || slow(b) - slow(a))
}

/** @param all false: those that fit next to others */
export function useEdgeColumns(all: boolean): readonly Column<EdgeRow>[] {
  const t = useTexts().overview.edge
  const { latency: words } = useTexts().work.edges
  const formats = useFormats()
  const numeric = (
    id: string,
    header: string,
    value: (row: EdgeRow) => number | null | undefined,
    format: (value: number) => string,
  ): Column<EdgeRow> => ({
    id,
    header,
    numeric: true,
    value: (row) => value(row) ?? -1,
    cell: (row) => {
      const found = value(row)
      return found === null || found === undefined ? t.unknown : format(found)
    },
  })
  const rate = (id: string, header: string, name: Amount) =>
    numeric(id, header, ({ span }) => span && rateOf([span], name), formats.rate)
  const latency = (name: 'p50' | 'p95' | 'p99') =>
    numeric(name, words[name], ({ span }) => span?.latency?.[name], formats.latency)
  return [
    {
      id: 'host',
      header: t.host,
      value: (edge) => `${edge.host} ${edge.pid}`,
      cell: ({ id, host, pid }) => <NameLink to={`/edges/${segment(id)}`} fw={550} name={`${host} · ${pid}`} />,
    },
    ...(all ? [{ id: 'version', header: t.version, value: (edge: EdgeRow) => edge.version }] : []),
    {
      id: 'revision',
      header: t.revision,
      numeric: true,
      value: (edge) => edge.applied_revision,
      cell: ({ applied_revision: revision, behind }) =>
        behind === 0 ? formats.number(revision) : <Status tone="warning">{t.behind(behind)}</Status>,
    },
    rate('requests', t.requests, 'requests'),
    ...(all ? [latency('p50')] : []),
    latency('p95'),
    ...(all ? [latency('p99')] : []),
    rate('errors', t.errors, 'server_errors'),
    ...(all ? [rate('missing', t.missing, 'tiles_missing'), rate('auth', t.auth, 'auth_failures')] : []),
    numeric('hits', t.hitRate, ({ span }) => span && shareFromMemory([span]), formats.percent),
    numeric('memory', t.memory, ({ traffic }) => traffic?.memory_bytes, formats.bytes),
    agoColumn('since', t.since, (edge) => edge.started_at),
  ]
}
