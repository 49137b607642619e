import type { DeliveryStatus } from '@gateway/contracts/push.js'
import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconSend from '~icons/send'
import { segment } from '../../api/client.js'
import { type AnyPush, anyTargetQuery, PUSHES, type PushKind, pushedName, pushKind } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { deliveryActions } from '../../ui/bulk-actions.js'
import { actionsColumn, agoColumn, type Column } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { NameLink } from '../../ui/name.js'
import { type FiltersOf, ServerTable } from '../../ui/server-table.js'
import { ServerText } from '../../ui/server-text.js'
import { Status, type Tone } from '../../ui/status.js'
import { yesOrNo } from '../../ui/use-catalog-filters.js'
import { useParameters } from '../../ui/use-parameter.js'
import { PushedText } from './pushed-text.js'
import { RetryButton } from './retry-button.js'

/** The records of one kind: basemap versions unless the URL names another kind. */
export function RecordsTable() {
  const t = useTexts()
  const [parameters, set] = useParameters()
  const of = pushKind(parameters.get('of'))
  return (
    <Stack gap="sm">
      <Group>
        <SegmentedControl
          aria-label={t.pushes.whatKind}
          value={of}
          data={[
            { value: 'basemap', label: t.pushes.ofBasemaps },
            { value: 'vector', label: t.pushes.ofVectors },
            { value: 'purge', label: t.pushes.ofCaches },
          ]}
          onChange={(value) => set({ of: value === 'basemap' ? null : value, page: null })}
        />
      </Group>
      <Records key={of} of={of} />
    </Stack>
  )
}

function Records({ of }: { of: PushKind }) {
  const t = useTexts()
  const targets = useQuery(anyTargetQuery)
  const columns = useColumns(of)
  const states = ['pending', 'retrying', 'succeeded', 'failed'] as const
  const filters: FiltersOf<(typeof PUSHES)[PushKind]> = [
    { name: 'status', label: t.common.status, options: states.map((state) => [state, t.pushes.statuses[state]]) },
    { name: 'acknowledged', label: t.overview.seen, options: yesOrNo(t) },
  ]
  const noTargets = targets.data?.total === 0
  return (
    <ServerTable
      source={PUSHES[of]}
      filters={filters}
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
      {...(of !== 'purge' && {
        bulk: { list: of, changes: ['pushes'], actions: deliveryActions(t), nameOf: pushedName },
      })}
      search={t.pushes.search}
    />
  )
}

function useColumns(of: PushKind): readonly Column<AnyPush>[] {
  const t = useTexts()
  return [
    {
      id: 'pushed',
      header: t.pushes.pushed,
      sort: of === 'vector' ? 'vector_code' : 'basemap_code',
      share: 25,
      value: pushedName,
      cell: (record) => (
        <div className="in-row">
          <NameLink to={`/pushes/${of}/${record.id}`} fw={550} name={pushedName(record)} />
          <PushedText record={record} />
        </div>
      ),
    },
    {
      id: 'target',
      header: t.pushes.target,
      sort: 'target_code',
      value: (record) => record.target_code,
      cell: ({ target_code: code }) => <NameLink to={`/pushes/targets/${segment(code)}`} name={code} />,
    },
    {
      id: 'status',
      header: t.common.status,
      sort: 'status',
      value: (record) => record.status,
      cell: (record) => <PushStatus status={record.status} />,
    },
    { id: 'attempts', header: t.pushes.attempts, sort: 'attempts', numeric: true, value: (record) => record.attempts },
    {
      id: 'message',
      header: t.pushes.message,
      share: 20,
      value: (record) => record.message,
      cell: (record) => (
        <Text size="sm" lineClamp={2}>
          <ServerText text={record.message || '–'} code={record.message_code} params={record.message_params} />
        </Text>
      ),
    },
    agoColumn('next', t.pushes.next, ({ next_attempt_at: at }) => at, { fallback: '–', sort: 'next_attempt_at' }),
    agoColumn('created', t.common.created, ({ created_at: at }) => at, { sort: 'created_at' }),
    actionsColumn(t, (record) => <RetryButton of={of} record={record} />),
  ]
}

const TONES: Record<DeliveryStatus, Tone> = {
  pending: 'waiting',
  retrying: 'retrying',
  succeeded: 'good',
  failed: 'bad',
}

export function PushStatus({ status }: { status: DeliveryStatus }) {
  const t = useTexts()
  return <Status tone={TONES[status]}>{t.pushes.statuses[status]}</Status>
}
