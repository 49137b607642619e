import type { AdminBasemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import { Button, Group } from '@mantine/core'
import { useMemo, useState } from 'react'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/column.js'
import { actionsColumn, availabilityColumn } from '../../ui/columns.js'
import { DataTable } from '../../ui/data-table.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Status } from '../../ui/status.js'
import { Ago } from '../../ui/time.js'
import { BoundsText } from './bounds-text.js'
import { DefaultDialog } from './default-dialog.js'

type Version = AdminBasemap['versions'][number]

export function VersionsTable({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const [asked, setAsked] = useState<BasemapVersion | null>(null)
  const columns = useColumns(basemap, setAsked)
  const newestFirst = useMemo(() => [...basemap.versions].reverse(), [basemap.versions])
  return (
    <>
      <DataTable label={t.basemaps.versions} rows={newestFirst} columns={columns} rowKey={(v) => v.version} />
      <DefaultDialog basemap={basemap} version={asked} onClose={() => setAsked(null)} />
    </>
  )
}

function useColumns(basemap: AdminBasemap, ask: (version: BasemapVersion) => void): readonly Column<Version>[] {
  const t = useTexts()
  return useMemo(
    () => [
      {
        id: 'version',
        header: t.common.version,
        value: (v) => v.version,
        cell: (v) => (
          <Group gap="xs">
            <TextLink to={`/basemaps/${segment(basemap.code)}/versions/${segment(v.version)}`} fw={550}>
              {v.version}
            </TextLink>
            {v.version === basemap.default_version && <Status tone="good">{t.basemaps.isDefault}</Status>}
          </Group>
        ),
      },
      { id: 'storage', header: t.basemaps.storage, value: (v) => `${v.storage} · ${v.format}` },
      { id: 'size', header: t.basemaps.tileSize, numeric: true, value: (v) => v.tile_size },
      { id: 'zooms', header: t.common.zooms, value: (v) => `${v.min_zoom}–${v.max_zoom}` },
      {
        id: 'bounds',
        header: t.common.bounds,
        value: (v) => v.bounds?.join(' ') ?? '',
        cell: (v) => <BoundsText bounds={v.bounds} />,
      },
      availabilityColumn(t),
      {
        id: 'scanned',
        header: t.basemaps.scannedAt,
        value: (v) => v.scanned_at,
        cell: (v) => <Ago at={v.scanned_at} />,
      },
      actionsColumn(t, (v) => (
        <Group gap="xs" wrap="nowrap" className="row-actions">
          <ButtonLink
            to={`/basemaps/${segment(basemap.code)}/versions/${segment(v.version)}`}
            size="xs"
            variant="light"
            aria-label={`${t.basemaps.preview}: ${v.version}`}
          >
            {t.basemaps.preview}
          </ButtonLink>
          {v.version !== basemap.default_version && (
            <Button
              size="xs"
              variant="default"
              onClick={() => ask(v)}
              aria-label={`${t.basemaps.makeDefault}: ${v.version}`}
            >
              {t.basemaps.makeDefault}
            </Button>
          )}
        </Group>
      )),
    ],
    [t, basemap, ask],
  )
}
