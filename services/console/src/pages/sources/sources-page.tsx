import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { Text } from '@mantine/core'
import { IconFolderPlus, IconFolderSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { segment } from '../../api/client.js'
import { scanSourcesQuery } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import { actionsColumn, type Column, monoColumn, nameColumn } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { ListPage } from '../../ui/list-page.js'
import { Ago } from '../../ui/time.js'
import { ScanButton } from './scan-button.js'
import { ScanStatus } from './scan-status.js'

export function Page() {
  const t = useTexts()
  const query = useQuery(scanSourcesQuery)
  const columns = useColumns()
  const add = (
    <ButtonLink to="/sources/new" needs="admin" icon={IconFolderPlus}>
      {t.sources.add}
    </ButtonLink>
  )
  return (
    <ListPage
      texts={t.sources}
      icon={IconFolderSearch}
      actions={add}
      first={add}
      query={query}
      columns={columns}
      rowKey={({ code }) => code}
    />
  )
}

function useColumns(): readonly Column<ScanSource>[] {
  const t = useTexts()
  return [
    nameColumn(t, (code) => `/sources/${segment(code)}`),
    {
      id: 'kind',
      header: t.common.kind,
      value: ({ kind }) => t.sources.kinds[kind],
    },
    monoColumn('path', t.common.path, ({ path }) => path),
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
    actionsColumn(t, (source) => <ScanButton source={source} />),
  ]
}
