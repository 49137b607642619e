import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import type { ExportFormat, ExportInput } from '@gateway/contracts/export.js'
import { Alert, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { findTargets } from '../../api/catalog.js'
import { useExport } from '../../api/exports.js'
import { useNavigate } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { CodeSelect } from '../../ui/code-select.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { notifyDone } from '../../ui/notify.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { WriteButton } from '../../ui/write-button.js'
import { PartFields, VersionPartPage } from '../basemaps/version-part.js'
import { archivesOf, parseBounds } from './export-form.js'

export function Page() {
  const t = useTexts()
  return (
    <VersionPartPage title={t.exports.newTitle}>
      {(code, version) => (
        <Section title={t.exports.newTitle} quiet>
          <ExportForm key={version.version} code={code} version={version} />
        </Section>
      )}
    </VersionPartPage>
  )
}

/** Names that are the same in every language. */
const ARCHIVES: Partial<Record<ExportFormat, string>> = { pmtiles: 'PMTiles', mbtiles: 'MBTiles', gpkg: 'GeoPackage' }

function ExportForm({ code, version }: { code: string; version: BasemapVersion }) {
  const t = useTexts()
  const go = useNavigate()
  const write = useExport()
  const [part, setPart] = useState({ bounds: '', zooms: { min: version.min_zoom, max: version.max_zoom } })
  const [format, setFormat] = useState<ExportFormat>('pmtiles')
  const [target, setTarget] = useState('')
  const [label, setLabel] = useState('')
  const { bounds, zooms } = part
  const isDirty = () =>
    bounds !== '' || target !== '' || label !== '' || zooms.min !== version.min_zoom || zooms.max !== version.max_zoom
  const parsed = parseBounds(bounds)
  const body = (): ExportInput => ({
    basemap_code: code,
    version: version.version,
    format,
    zoom_min: zooms.min,
    zoom_max: zooms.max,
    ...(parsed && { bounds: parsed }),
    ...(target !== '' && { target_code: target }),
    ...(label.trim() !== '' && { publish_as: label.trim() }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (parsed === null) return
    write.mutate(body(), {
      onSuccess: () => {
        notifyDone(t.exports.started)
        go('/pushes?show=exports', SAVED)
      },
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <FormGuard isDirty={isDirty} />
      <Stack maw={560}>
        {version.tile_matrix_set !== 'WebMercatorQuad' && <Alert color="orange">{t.exports.onlyMercator}</Alert>}
        <NativeSelect
          label={t.exports.format}
          data={archivesOf(version.format).map((value) => ({ value, label: ARCHIVES[value] ?? t.exports.tilePackage }))}
          value={format}
          onChange={(event) => setFormat(event.currentTarget.value as ExportFormat)}
        />
        <PartFields version={version} value={part} boundsHint={t.exports.boundsHint} onChange={setPart} />
        <CodeSelect
          label={t.exports.target}
          kind="targets"
          find={findTargets}
          value={target}
          onChange={setTarget}
          none={t.exports.noTarget}
        />
        {version.storage === 'upstream' && (
          <TextInput
            label={t.exports.publishAs}
            description={t.exports.publishHint}
            autoComplete="off"
            value={label}
            onChange={(event) => setLabel(event.currentTarget.value)}
          />
        )}
        {write.error !== null && <Problem title={t.exports.refused} error={write.error} />}
        <Group>
          <WriteButton needs="operator" type="submit" loading={write.isPending}>
            {t.exports.start}
          </WriteButton>
        </Group>
        <AsCommand command={() => write.commandOf(body())} />
      </Stack>
    </form>
  )
}
