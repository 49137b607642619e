import type { AdminBasemap, AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { Group } from '@mantine/core'
import { useState } from 'react'
import IconStack2 from '~icons/stack-2'
import { versionsOf } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { actionsColumn, agoColumn, availabilityColumn, type Column } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { NameLink } from '../../ui/name.js'
import { ServerTable } from '../../ui/server-table.js'
import { Status } from '../../ui/status.js'
import { WithdrawnMark } from '../../ui/withdrawn.js'
import { WriteButton } from '../../ui/write-button.js'
import { BoundsText } from './bounds-text.js'
import { DefaultDialog } from './default-dialog.js'
import { newestOf } from './version-select.js'

export function VersionsTable({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const [chosen, setChosen] = useState<AdminBasemapVersion | null>(null)
  const columns = useColumns(basemap, setChosen)
  return (
    <>
      <ServerTable
        source={versionsOf(basemap.code)}
        what={t.basemaps.versions}
        // A basemap keeps its record even if a scan finds no version of it.
        empty={{ title: t.basemaps.noVersions, icon: IconStack2, action: null, advice: t.basemaps.emptyAdvice }}
        label={t.basemaps.versions}
        search={t.basemaps.searchOwnVersions}
        order="-version"
        columns={columns}
        rowKey={(v) => v.version}
      />
      <DefaultDialog basemap={basemap} version={chosen} onClose={() => setChosen(null)} />
    </>
  )
}

function useColumns(
  { code, default_version: current, versions }: AdminBasemap,
  onMakeDefault: (version: AdminBasemapVersion) => void,
): readonly Column<AdminBasemapVersion>[] {
  const t = useTexts()
  const newest = newestOf(versions)
  const addressOf = (version: string) => `/basemaps/${segment(code)}/versions/${segment(version)}`
  return [
    {
      id: 'version',
      header: t.common.version,
      sort: 'version',
      value: (v) => v.version,
      cell: (v) => (
        <Group gap="xs">
          <NameLink to={addressOf(v.version)} fw={550} name={v.version} />
          {v.version === newest && <Status tone="busy">{t.maps.newest}</Status>}
          {v.version === current && <Status tone="good">{t.basemaps.isDefault}</Status>}
          {v.held ? <Status tone="busy">{t.automation.held}</Status> : <WithdrawnMark of={v} />}
        </Group>
      ),
    },
    { id: 'storage', header: t.basemaps.storage, value: (v) => `${v.storage} · ${v.format}` },
    { id: 'size', header: t.basemaps.tileSize, numeric: true, value: (v) => v.tile_size },
    { id: 'zooms', header: t.common.zooms, value: (v) => `${v.min_zoom}–${v.max_zoom}` },
    {
      id: 'bounds',
      header: t.common.bounds,
      share: 15,
      value: (v) => v.bounds?.join(' ') ?? '',
      cell: (v) => <BoundsText bounds={v.bounds} />,
    },
    availabilityColumn(t),
    agoColumn('scanned', t.basemaps.scannedAt, (v) => v.scanned_at, { sort: 'scanned_at' }),
    // Only an approval publishes a version that is held or rejected.
    actionsColumn(t, ({ version, ...rest }) => (
      <Group gap="xs" wrap="nowrap" className="row-actions">
        <ButtonLink to={addressOf(version)} size="xs" variant="light" aria-label={`${t.basemaps.preview}: ${version}`}>
          {t.basemaps.preview}
        </ButtonLink>
        {version !== current && !rest.held && rest.rejected_reason === null && (
          <WriteButton
            needs="operator"
            size="xs"
            variant="default"
            onClick={() => onMakeDefault({ version, ...rest })}
            aria-label={`${t.basemaps.makeDefault}: ${version}`}
          >
            {t.basemaps.makeDefault}
          </WriteButton>
        )}
      </Group>
    )),
  ]
}
