import { Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { AUDIT, type AuditEntry } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { type Column, momentColumn, monoColumn } from '../../ui/columns.js'
import { ServerListPage } from '../../ui/server-table.js'
import { shownText } from '../../ui/shown-text.js'

export function Page() {
  const t = useTexts()
  return (
    <ServerListPage
      texts={t.audit}
      icon={IconHistory}
      first={null}
      source={AUDIT}
      columns={useColumns()}
      rowKey={({ id }) => String(id)}
    />
  )
}

function useColumns(): readonly Column<AuditEntry>[] {
  const t = useTexts()
  return [
    { ...momentColumn<AuditEntry>('at', t.audit.at, ({ at }) => at), sort: 'at' },
    { id: 'actor', header: t.audit.actor, sort: 'actor', value: ({ actor }) => actor },
    {
      id: 'action',
      header: t.audit.action,
      sort: 'action',
      value: ({ action }) => action,
      cell: ({ action }) => <span className="mono nowrap">{action}</span>,
    },
    { ...monoColumn<AuditEntry>('subject', t.audit.subject, ({ subject }) => subject), sort: 'subject' },
    {
      id: 'detail',
      header: t.audit.detail,
      value: ({ detail }) => detailText(detail),
      cell: ({ detail }) => (
        <Text size="sm" lineClamp={3} className="wrap">
          <bdi>{shownText(detailText(detail)) || '–'}</bdi>
        </Text>
      ),
    },
    { id: 'address', header: t.audit.address, value: ({ address }) => address },
  ]
}

function detailText(detail: AuditEntry['detail']): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
