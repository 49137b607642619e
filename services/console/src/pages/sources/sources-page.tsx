import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { Text } from '@mantine/core'
import { IconFolderPlus, IconFolderSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { segment } from '../../api/client.js'
import { scanSourcesQuery } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import { type Column, DataTable } from '../../ui/data-table.js'
import { Empty } from '../../ui/empty.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Status } from '../../ui/status.js'
import { Ago } from '../../ui/time.js'
import { ScanButton } from './scan-button.js'
import { ScanStatus } from './scan-status.js'

export function Page() {
  const t = useTexts()
  const query = useQuery(scanSourcesQuery)
  const columns = useColumns()
  const add = (
    <ButtonLink to="/sources/new" leftSection={<IconFolderPlus size={17} aria-hidden />}>
      {t.sources.add}
    </ButtonLink>
  )
  return (
    <Frame title={t.sources.title} lead={t.sources.lead} actions={add}>
      <Section title={t.sources.title} quiet>
        <Loaded query={query} what={t.sources.what}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title={t.sources.empty} icon={<IconFolderSearch size={30} aria-hidden />} action={add}>
                {t.sources.emptyAdvice}
              </Empty>
            ) : (
              <DataTable
                label={t.sources.title}
                rows={items}
                columns={columns}
                rowKey={({ code }) => code}
                search={t.sources.search}
              />
            )
          }
        </Loaded>
      </Section>
    </Frame>
  )
}

function useColumns(): readonly Column<ScanSource>[] {
  const t = useTexts()
  return useMemo(
    () => [
      {
        id: 'name',
        header: t.common.name,
        value: ({ name, code }) => `${name} ${code}`,
        cell: ({ name, code, enabled }) => (
          <>
            <TextLink to={`/sources/${segment(code)}`} fw={550}>
              {name}
            </TextLink>{' '}
            {!enabled && <Status tone="off">{t.common.disabled}</Status>}
            {name !== code && (
              <Text size="xs" c="dimmed">
                {code}
              </Text>
            )}
          </>
        ),
      },
      {
        id: 'kind',
        header: t.common.kind,
        value: ({ kind }) => t.sources.kinds[kind],
      },
      {
        id: 'path',
        header: t.common.path,
        value: ({ path }) => path,
        cell: ({ path }) => <span className="mono">{path}</span>,
      },
      {
        id: 'scan',
        header: t.sources.lastScan,
        value: ({ last_scan: scan }) => scan?.started_at ?? '',
        cell: ({ last_scan: scan }) =>
          scan === null ? (
            <Text size="sm" c="dimmed">
              {t.sources.neverScanned}
            </Text>
          ) : (
            <div>
              <ScanStatus scan={scan} />{' '}
              <Text size="sm" c="dimmed" span>
                <Ago at={scan.started_at} />
              </Text>
              <Text size="sm" lineClamp={2}>
                {scan.status === 'failed' ? scan.message : t.sources.outcome(scan.added, scan.updated, scan.missing)}
              </Text>
            </div>
          ),
      },
      {
        id: 'actions',
        header: t.common.actions,
        value: () => '',
        actions: true,
        cell: (source) => <ScanButton source={source} />,
      },
    ],
    [t],
  )
}
