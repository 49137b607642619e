import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { Text } from '@mantine/core'
import IconFolderPlus from '~icons/folder-plus'
import IconFolderSearch from '~icons/folder-search'
import IconUpload from '~icons/upload'
import { segment } from '../../api/client.js'
import { SCAN_SOURCES } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import { actionsColumn, type Column, monoColumn, nameColumn } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { type FiltersOf, ServerListPage } from '../../ui/server-table.js'
import { ServerText } from '../../ui/server-text.js'
import { Ago } from '../../ui/time.js'
import { yesOrNo } from '../../ui/use-catalog-filters.js'
import { ScanButton } from './scan-button.js'
import { ScanStatus } from './scan-status.js'

export function Page() {
  const t = useTexts()
  const kinds = ['basemap', 'vector', 'style'] as const
  const statuses = ['running', 'succeeded', 'failed'] as const
  const filters: FiltersOf<typeof SCAN_SOURCES> = [
    { name: 'kind', label: t.common.kind, options: kinds.map((kind) => [kind, t.sources.kinds[kind]]) },
    {
      name: 'status',
      label: t.sources.lastScan,
      options: statuses.map((status) => [status, t.sources.statuses[status]]),
    },
    { name: 'enabled', label: t.common.enabled, options: yesOrNo(t) },
  ]
  const add = (
    <ButtonLink to="/sources/new" needs="admin" icon={IconFolderPlus}>
      {t.sources.add}
    </ButtonLink>
  )
  return (
    <ServerListPage
      texts={t.sources}
      icon={IconFolderSearch}
      actions={
        <>
          <ButtonLink to="/upload" needs="operator" variant="default" icon={IconUpload}>
            {t.upload.title}
          </ButtonLink>
          {add}
        </>
      }
      first={add}
      source={SCAN_SOURCES}
      filters={filters}
      columns={useColumns()}
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
      sort: 'kind',
      value: ({ kind }) => t.sources.kinds[kind],
    },
    { ...monoColumn<ScanSource>('path', t.common.path, ({ path }) => path), sort: 'path', share: 20 },
    {
      id: 'scan',
      header: t.sources.lastScan,
      sort: 'last_scan',
      share: 36,
      value: ({ last_scan: scan }) => scan?.started_at ?? '',
      cell: ({ last_scan: scan }) =>
        scan === null ? (
          <Text size="sm" c="dimmed">
            {t.sources.neverScanned}
          </Text>
        ) : (
          <div className="in-row">
            <ScanStatus scan={scan} />
            <Text size="sm" c="dimmed" span>
              <Ago at={scan.started_at} />
            </Text>
            <Text size="sm" lineClamp={2}>
              {scan.status === 'failed' ? (
                <ServerText text={scan.message} code={scan.message_code} params={scan.message_params} />
              ) : (
                t.sources.outcome(scan.added, scan.updated, scan.missing)
              )}
            </Text>
          </div>
        ),
    },
    actionsColumn(t, (source) => <ScanButton source={source} />),
  ]
}
