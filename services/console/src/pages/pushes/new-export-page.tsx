import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import type { ExportFormat, ExportInput } from '@gateway/contracts/export.js'
import { Alert, Group, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { findTargets } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useExport } from '../../api/exports.js'
import { useNavigate, useParams } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { CodeSelect } from '../../ui/code-select.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { Missing } from '../../ui/missing.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { shortText } from '../../ui/shown-text.js'
import { WriteButton } from '../../ui/write-button.js'
import { WithBasemap } from '../basemaps/use-basemap.js'
import { archivesOf, parseBounds } from './export-form.js'

export function Page() {
  const t = useTexts()
  const { code = '', version: label = '' } = useParams()
  const here = `/basemaps/${segment(code)}`
  return (
    <WithBasemap code={code}>
      {(basemap) => {
        const version = basemap.versions.find((v) => v.version === label)
        const back = { label: basemap.name, to: here }
        if (version === undefined) return <Missing title={t.basemaps.noSuchVersion(shortText(label))} back={back} />
        const title = `${basemap.name} · ${label}`
        return (
          <Frame
            title={t.exports.newTitle}
            lead={title}
            above={[back, { label, to: `${here}/versions/${segment(label)}` }]}
          >
            <Section title={t.exports.newTitle} quiet>
              <ExportForm key={label} code={code} version={version} />
            </Section>
          </Frame>
        )
      }}
    </WithBasemap>
  )
}

/** Names that are the same in every language. */
const ARCHIVES: Partial<Record<ExportFormat, string>> = { pmtiles: 'PMTiles', mbtiles: 'MBTiles', gpkg: 'GeoPackage' }

function ExportForm({ code, version }: { code: string; version: BasemapVersion }) {
  const t = useTexts()
  const go = useNavigate()
  const write = useExport()
  const [bounds, setBounds] = useState('')
  const [zooms, setZooms] = useState({ min: version.min_zoom, max: version.max_zoom })
  const [format, setFormat] = useState<ExportFormat>('pmtiles')
  const [target, setTarget] = useState('')
  const [label, setLabel] = useState('')
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
  const limits = { min: version.min_zoom, max: version.max_zoom, allowDecimal: false }
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
        <TextInput
          label={t.exports.bounds}
          description={t.exports.boundsHint}
          value={bounds}
          onChange={(event) => setBounds(event.currentTarget.value)}
          error={parsed === null && t.exports.boundsWrong}
        />
        <Group grow align="start">
          <NumberInput
            label={t.slicing.zoomMin}
            {...limits}
            value={zooms.min}
            onChange={(min) => setZooms({ ...zooms, min: Number(min) })}
          />
          <NumberInput
            label={t.slicing.zoomMax}
            {...limits}
            value={zooms.max}
            onChange={(max) => setZooms({ ...zooms, max: Number(max) })}
          />
        </Group>
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
