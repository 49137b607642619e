import { Text } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { segment } from '../../api/client.js'
import { type AnyPush, pushedName, pushesQuery, targetsQuery } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { actionsColumn, agoColumn, type Column } from '../../ui/columns.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { ListTable } from '../../ui/list-page.js'
import { Name } from '../../ui/name.js'
import { PushStatus } from './push-status.js'
import { RetryButton } from './retry-button.js'

export function RecordsTable() {
  const t = useTexts()
  const query = useQuery(pushesQuery)
  const targets = useQuery(targetsQuery)
  const columns = useColumns()
  const noTargets = targets.data?.items.length === 0
  return (
    <ListTable
      query={query}
      what={t.pushes.what}
      empty={{
        title: t.pushes.empty,
        icon: IconSend,
        action: noTargets ? (
          <ButtonLink to="/pushes/targets/new" needs="admin">
            {t.pushes.addTarget}
          </ButtonLink>
        ) : (
          <ButtonLink to="/pushes/new" needs="operator">
            {t.pushes.newPush}
          </ButtonLink>
        ),
        advice: noTargets ? t.pushes.emptyNoTargets : t.pushes.emptyAdvice,
      }}
      label={t.pushes.records}
      columns={columns}
      rowKey={({ id }) => id}
      search={t.pushes.search}
      cut={t.pushes.listed}
    />
  )
}

function useColumns(): readonly Column<AnyPush>[] {
  const t = useTexts()
  return [
    {
      id: 'pushed',
      header: t.pushes.pushed,
      value: pushedName,
      cell: (record) => (
        <TextLink to={`/pushes/${record.of}/${record.id}`} fw={550}>
          <Name>{pushedName(record)}</Name>
        </TextLink>
      ),
    },
    {
      id: 'target',
      header: t.pushes.target,
      value: (record) => record.target_code,
      cell: ({ target_code: code }) => (
        <TextLink to={`/pushes/targets/${segment(code)}`}>
          <Name>{code}</Name>
        </TextLink>
      ),
    },
    {
      id: 'status',
      header: t.common.status,
      value: (record) => record.status,
      cell: (record) => <PushStatus status={record.status} />,
    },
    { id: 'attempts', header: t.pushes.attempts, numeric: true, value: (record) => record.attempts },
    {
      id: 'message',
      header: t.pushes.message,
      value: (record) => record.message,
      cell: (record) => (
        <Text size="sm" lineClamp={2}>
          {record.message || '–'}
        </Text>
      ),
    },
    agoColumn('next', t.pushes.next, ({ next_attempt_at: at }) => at, '–'),
    agoColumn('created', t.common.created, ({ created_at: at }) => at),
    actionsColumn(t, (record) => <RetryButton of={record.of} record={record} />),
  ]
}
