import type { EdgePresence, RemoteCache } from '@gateway/contracts/edge.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/columns.js'
import { DataTable } from '../../ui/data-table.js'
import { Section } from '../../ui/section.js'
import { Status } from '../../ui/status.js'
import { useFormats } from '../../ui/use-formats.js'

interface Row extends RemoteCache {
  readonly host: string
}

/** The fill level and the savings of each host's cache of remote tiles. Renders nothing if no edge has read a remote version. */
export function RemoteCacheSection({ edges }: { readonly edges: readonly EdgePresence[] | undefined }) {
  const t = useTexts().overview
  const columns = useColumns()
  const rows = hostsOf(edges ?? [])
  if (rows.length === 0) return null
  return (
    <Section title={t.remoteCaches}>
      <DataTable label={t.remoteCaches} rows={rows} columns={columns} rowKey={({ host }) => host} />
    </Section>
  )
}

/** Groups by host. The processes of a host share one cache but count separately. */
function hostsOf(edges: readonly EdgePresence[]): Row[] {
  const hosts = new Map<string, Row>()
  for (const { host, traffic } of edges) {
    const own = traffic?.remote_cache
    if (own === undefined) continue
    const known = hosts.get(host)
    hosts.set(host, {
      host,
      kept_bytes: Math.max(own.kept_bytes, known?.kept_bytes ?? 0),
      capacity_bytes: own.capacity_bytes,
      saved_bytes: own.saved_bytes + (known?.saved_bytes ?? 0),
      fetched_bytes: own.fetched_bytes + (known?.fetched_bytes ?? 0),
      failing: own.failing || known?.failing === true,
    })
  }
  return [...hosts.values()]
}

function useColumns(): readonly Column<Row>[] {
  const t = useTexts().overview.remoteCache
  const formats = useFormats()
  const bytes = (id: 'saved_bytes' | 'fetched_bytes', header: string): Column<Row> => ({
    id,
    header,
    numeric: true,
    value: (row) => row[id],
    cell: (row) => formats.bytes(row[id]),
  })
  return [
    { id: 'host', header: t.host, value: ({ host }) => host },
    {
      id: 'fill',
      header: t.fill,
      numeric: true,
      value: ({ kept_bytes: kept }) => kept,
      cell: ({ kept_bytes: kept, capacity_bytes: capacity }) =>
        capacity === 0 ? t.off : t.of(formats.bytes(kept), formats.bytes(capacity)),
    },
    bytes('saved_bytes', t.saved),
    bytes('fetched_bytes', t.fetched),
    {
      id: 'state',
      header: t.state,
      value: ({ failing }) => Number(failing),
      cell: ({ failing }) => <Status tone={failing ? 'bad' : 'good'}>{failing ? t.failing : t.works}</Status>,
    },
  ]
}
