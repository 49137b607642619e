import { Button, Group, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type AuditEntry, auditQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { type Column, momentColumn, monoColumn } from '../../ui/columns.js'
import { DataTable } from '../../ui/data-table.js'
import { Empty } from '../../ui/empty.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { shownText } from '../../ui/shown-text.js'

export function Page() {
  const t = useTexts()
  const query = useInfiniteQuery(auditQuery)
  const columns = useColumns()
  return (
    <Frame title={t.audit.title} lead={t.audit.lead}>
      <Section title={t.audit.title} quiet>
        <Loaded query={query} what={t.audit.what}>
          {({ pages }) => {
            const entries = pages.flatMap(({ items }) => items)
            if (entries.length === 0) {
              return (
                <Empty title={t.audit.empty} icon={IconHistory}>
                  {t.audit.emptyAdvice}
                </Empty>
              )
            }
            return (
              <>
                <DataTable
                  label={t.audit.title}
                  rows={entries}
                  columns={columns}
                  rowKey={({ id }) => String(id)}
                  search={t.audit.search}
                />
                <Group justify="space-between">
                  <Text size="sm" c="dimmed">
                    {t.audit.loaded(entries.length, pages.at(-1)?.total ?? entries.length)}
                  </Text>
                  {query.hasNextPage && (
                    <Button
                      variant="default"
                      loading={query.isFetchingNextPage}
                      onClick={() => void query.fetchNextPage()}
                    >
                      {t.common.more}
                    </Button>
                  )}
                </Group>
              </>
            )
          }}
        </Loaded>
      </Section>
    </Frame>
  )
}

function useColumns(): readonly Column<AuditEntry>[] {
  const t = useTexts()
  return [
    momentColumn('at', t.audit.at, ({ at }) => at),
    { id: 'actor', header: t.audit.actor, value: ({ actor }) => actor },
    {
      id: 'action',
      header: t.audit.action,
      value: ({ action }) => action,
      cell: ({ action }) => <span className="mono nowrap">{action}</span>,
    },
    monoColumn('subject', t.audit.subject, ({ subject }) => subject),
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
