import { Button } from '@mantine/core'
import IconDownload from '~icons/download'
import IconHistory from '~icons/history'
import { AUDIT, type AuditEntry, auditFile } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { AuditDetail, AuditSubject, subjectOf, useActionName } from '../../ui/audit-entry.js'
import type { Column } from '../../ui/columns.js'
import type { Filter } from '../../ui/filter-field.js'
import { TextLink } from '../../ui/links.js'
import { NameLink } from '../../ui/name.js'
import { ServerListPage } from '../../ui/server-table.js'
import { Moment } from '../../ui/time.js'
import { useParameters } from '../../ui/use-parameter.js'

const SHOWN_LINES = 2

export function Page() {
  const t = useTexts()
  const filters = useFilters()
  return (
    <ServerListPage
      texts={t.audit}
      icon={IconHistory}
      actions={
        <>
          <ExportButton format="csv" filters={filters} />
          <ExportButton format="ndjson" filters={filters} />
        </>
      }
      first={null}
      source={AUDIT}
      filters={filters}
      columns={useColumns()}
      rowKey={({ id }) => String(id)}
    />
  )
}

type Narrowed = Filter<'action' | 'actor' | 'subject' | 'from' | 'to'>

function useFilters(): readonly Narrowed[] {
  const t = useTexts().audit
  return [
    { name: 'action', label: t.action, options: Object.entries(t.actions) },
    { name: 'actor', label: t.actorExactly },
    { name: 'subject', label: t.subjectExactly },
    { name: 'from', label: t.from, isMoment: true },
    { name: 'to', label: t.to, isMoment: true },
  ]
}

/** Exports all entries that match the filters, not only the current page. */
function ExportButton({ format, filters }: { format: 'csv' | 'ndjson'; filters: readonly Narrowed[] }) {
  const t = useTexts().audit
  const [parameters] = useParameters()
  const names = ['q', ...filters.map((filter) => filter.name)] as const
  const narrowed = names.flatMap((name) => (parameters.get(name) ? [[name, parameters.get(name)]] : []))
  return (
    <Button
      component="a"
      href={auditFile({ format, ...Object.fromEntries(narrowed) })}
      download
      variant="default"
      leftSection={<IconDownload size={16} />}
    >
      {t.export(format.toUpperCase())}
    </Button>
  )
}

function useColumns(): readonly Column<AuditEntry>[] {
  const t = useTexts()
  const nameOf = useActionName()
  return [
    {
      id: 'at',
      header: t.audit.at,
      sort: 'at',
      value: ({ at }) => at,
      cell: ({ id, at }) => (
        <TextLink to={`/audit/${id}`}>
          <Moment at={at} />
        </TextLink>
      ),
    },
    {
      id: 'actor',
      header: t.audit.actor,
      sort: 'actor',
      value: ({ actor }) => actor,
      cell: ({ actor }) => <NameLink to={`/audit?actor=${encodeURIComponent(actor)}`} name={actor} />,
    },
    { id: 'action', header: t.audit.action, sort: 'action', value: ({ action }) => nameOf(action) },
    {
      id: 'subject',
      header: t.audit.subject,
      sort: 'subject',
      value: subjectOf,
      cell: (entry) => <AuditSubject entry={entry} />,
    },
    {
      id: 'detail',
      header: t.audit.detail,
      share: 34,
      value: () => '',
      cell: ({ action, detail }) => <AuditDetail action={action} detail={detail} lines={SHOWN_LINES} />,
    },
    { id: 'address', header: t.audit.address, value: ({ address }) => address },
  ]
}
