import type { AdminBasemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import { Alert, Anchor, Button, Group, Table, Text } from '@mantine/core'
import { useState } from 'react'
import IconAlertTriangle from '~icons/alert-triangle'
import { useSetDefaultVersion } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { Link } from '../../router/components.js'
import { useTexts } from '../../texts/texts.js'
import { Confirm } from '../../ui/confirm.js'
import { Name } from '../../ui/name.js'
import { notifyDone } from '../../ui/notify.js'
import { shortText } from '../../ui/shown-text.js'
import { notifyUndoable } from '../../ui/undo.js'
import { BoundsText } from './bounds-text.js'
import { AT_ONCE, bodyOf, TimingFields } from './default-timing.js'
import { type Compared, differences, losses } from './differences.js'
import { TileDifferences } from './tile-differences.js'
import { VersionWarnings } from './version-warnings.js'

export interface DefaultDialogProps {
  readonly basemap: AdminBasemap
  /** null if the dialog is closed */
  readonly version: BasemapVersion | null
  readonly onClose: () => void
}

/** Confirms a change of the default version and shows the differences for clients. */
export function DefaultDialog({ basemap, version, onClose }: DefaultDialogProps) {
  const t = useTexts().basemaps
  const set = useSetDefaultVersion(basemap.code)
  const label = version?.version ?? ''
  const { automation } = useTexts()
  const before = basemap.default_version
  const [timing, setTiming] = useState(AT_ONCE)
  const [wrong, setWrong] = useState(false)
  const done = {
    now: () => t.defaultDone(shortText(basemap.code), shortText(label)),
    later: () => automation.planned(shortText(label)),
    canary: () => automation.started(shortText(label)),
  }[timing.mode]
  const close = () => {
    setTiming(AT_ONCE)
    onClose()
  }
  const confirm = () => {
    const body = bodyOf(label, timing, Date.now())
    setWrong(body === null)
    if (body === null) return
    set.mutate(body, {
      onSuccess: () => {
        if (timing.mode !== 'now' || before === null || before === label) notifyDone(done())
        else notifyUndoable(done(), () => set.mutateAsync({ version: before }))
        close()
      },
    })
  }
  return (
    <Confirm
      opened={version !== null}
      title={t.defaultTitle(shortText(label))}
      action={t.makeDefault}
      write={set}
      command={set.commandOf(bodyOf(label, timing, 0) ?? { version: label })}
      onConfirm={confirm}
      onClose={close}
      failed={t.defaultFailed}
      size="lg"
    >
      <Text>{t.defaultWords[timing.mode](shortText(basemap.code))}</Text>
      <TimingFields timing={timing} wrong={wrong} onChange={setTiming} />
      {version !== null && <Changes basemap={basemap} after={version} />}
    </Confirm>
  )
}

function Changes({ basemap, after }: { basemap: AdminBasemap; after: BasemapVersion }) {
  const t = useTexts()
  const before = basemap.versions.find((v) => v.version === basemap.default_version)
  const lost = losses(before, after)
  const changed = before === undefined ? [] : differences(before, after)
  const warnings = [
    lost.format && before !== undefined && t.basemaps.formatChanges(before.format, after.format),
    lost.zooms && t.basemaps.zoomsShrink,
    lost.unavailable && t.basemaps.unavailableDefault,
  ].filter((warning) => warning !== false)
  const names: Record<Compared, string> = {
    format: t.common.format,
    tile_size: t.basemaps.tileSize,
    min_zoom: t.slicing.zoomMin,
    max_zoom: t.slicing.zoomMax,
    bounds: t.common.bounds,
    storage: t.basemaps.storage,
    available: t.common.available,
  }
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
            <Table.Td>{before === undefined ? t.basemaps.noDefault : <Name>{before.version}</Name>}</Table.Td>
            <Table.Td>
              <Name>{after.version}</Name>
            </Table.Td>
          </Table.Tr>
          {changed.map((name) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{names[name]}</Table.Th>
              <Table.Td>{before && <Value of={name} version={before} />}</Table.Td>
              <Table.Td>
                <Value of={name} version={after} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {changed.length === 0 && <Text size="sm">{t.basemaps.same}</Text>}
      {warnings.map((warning) => (
        <Alert key={warning} color="orange" icon={<IconAlertTriangle />}>
          {warning}
        </Alert>
      ))}
      <VersionWarnings
        basemap={basemap}
        versions={basemap.versions.filter(({ version }) => version === before?.version || version === after.version)}
      />
      {before !== undefined && before.version !== after.version && (
        <TilesOf code={basemap.code} before={before} after={after} />
      )}
      <Text size="sm" c="dimmed">
        {t.basemaps.cacheWarning}
      </Text>
    </>
  )
}

/** Compares the tiles on request only, since that reads thousands of tiles. */
function TilesOf({ code, before, after }: Record<'before' | 'after', BasemapVersion> & { readonly code: string }) {
  const t = useTexts().compare
  const [asked, setAsked] = useState(false)
  const query = new URLSearchParams({ left: before.version, right: after.version, view: 'tiles' })
  return (
    <>
      <Group>
        {!asked && (
          <Button variant="default" size="xs" onClick={() => setAsked(true)}>
            {t.showTiles}
          </Button>
        )}
        <Anchor component={Link} size="sm" to={`/basemaps/${segment(code)}/compare?${query}`}>
          {t.onItsPage}
        </Anchor>
      </Group>
      {asked && <TileDifferences code={code} left={before} right={after} />}
    </>
  )
}

function Value({ of, version }: { of: Compared; version: BasemapVersion }) {
  const t = useTexts()
  if (of === 'bounds') return <BoundsText bounds={version.bounds} />
  if (of === 'available') return <>{version.available ? t.common.yes : t.common.no}</>
  return <>{version[of]}</>
}
