import type { AdminBasemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import { Alert, Button, Group, Modal, Stack, Table, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useSetDefaultVersion } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone } from '../../ui/notify.js'
import { Problem } from '../../ui/problem.js'
import { BoundsText } from './bounds-text.js'
import { type Compared, differences, losses } from './differences.js'

interface DefaultDialogProps {
  readonly basemap: AdminBasemap
  /** null: closed */
  readonly version: BasemapVersion | null
  readonly onClose: () => void
}

/** Asks before the default changes, and shows first what will be different for everyone who reads it. */
export function DefaultDialog({ basemap, version, onClose }: DefaultDialogProps) {
  const t = useTexts()
  const set = useSetDefaultVersion(basemap.code)
  const close = () => {
    set.reset()
    onClose()
  }
  const confirm = (after: BasemapVersion) =>
    set.mutate(after.version, {
      onSuccess: () => {
        notifyDone(t.basemaps.defaultDone(basemap.code, after.version))
        close()
      },
    })
  return (
    <Modal
      opened={version !== null}
      onClose={close}
      title={version ? t.basemaps.defaultTitle(version.version) : ''}
      size="lg"
    >
      {version !== null && (
        <Stack>
          <Text>{t.basemaps.defaultWords(basemap.code)}</Text>
          <Changes basemap={basemap} after={version} />
          {set.error !== null && <Problem title={t.basemaps.defaultFailed} error={set.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t.common.cancel}
            </Button>
            <Button loading={set.isPending} onClick={() => confirm(version)} data-autofocus>
              {t.basemaps.makeDefault}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

function Changes({ basemap, after }: { basemap: AdminBasemap; after: BasemapVersion }) {
  const t = useTexts()
  const before = basemap.versions.find((v) => v.version === basemap.default_version)
  const lost = losses(before, after)
  const changed = before === undefined ? [] : differences(before, after)
  return (
    <>
      <Table withTableBorder>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t.basemaps.property}</Table.Th>
            <Table.Th scope="col">{t.basemaps.now}</Table.Th>
            <Table.Th scope="col">{t.basemaps.afterwards}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Table.Tr>
            <Table.Th scope="row">{t.common.version}</Table.Th>
            <Table.Td>{before?.version ?? t.basemaps.noDefault}</Table.Td>
            <Table.Td>{after.version}</Table.Td>
          </Table.Tr>
          {before !== undefined &&
            changed.map((name) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">
                  <Name of={name} />
                </Table.Th>
                <Table.Td>
                  <Value of={name} version={before} />
                </Table.Td>
                <Table.Td>
                  <Value of={name} version={after} />
                </Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
      {changed.length === 0 && <Text size="sm">{t.basemaps.same}</Text>}
      {lost.format && before !== undefined && (
        <Warning>{t.basemaps.formatChanges(before.format, after.format)}</Warning>
      )}
      {lost.zooms && <Warning>{t.basemaps.zoomsShrink}</Warning>}
      {lost.unavailable && <Warning>{t.basemaps.unavailableDefault}</Warning>}
      <Text size="sm" c="dimmed">
        {t.basemaps.cacheWarning}
      </Text>
    </>
  )
}

function Warning({ children }: { children: ReactNode }) {
  return (
    <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
      {children}
    </Alert>
  )
}

function Name({ of }: { of: Compared }) {
  const t = useTexts()
  const names: Record<Compared, string> = {
    format: t.common.format,
    tile_size: t.basemaps.tileSize,
    min_zoom: t.slicing.zoomMin,
    max_zoom: t.slicing.zoomMax,
    bounds: t.common.bounds,
    storage: t.basemaps.storage,
    available: t.common.available,
  }
  return <>{names[of]}</>
}

function Value({ of, version }: { of: Compared; version: BasemapVersion }) {
  const t = useTexts()
  if (of === 'bounds') return <BoundsText bounds={version.bounds} />
  if (of === 'available') return <>{version.available ? t.common.yes : t.common.no}</>
  return <>{version[of]}</>
}
