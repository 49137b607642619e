import type { AdminBasemap, AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { Group, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMemo } from 'react'
import { useOverride } from '../../api/catalog.js'
import { useAllowed } from '../../api/session.js'
import { VersionMap } from '../../map/lazy.js'
import { useTexts } from '../../texts/texts.js'
import { ChangedElsewhere } from '../../ui/changed-elsewhere.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { Section } from '../../ui/section.js'
import { shortText } from '../../ui/shown-text.js'
import { isServed } from '../../ui/withdrawn.js'
import { WriteButton } from '../../ui/write-button.js'
import { boundsOf, draftOf, formOf, isZoom, type OverrideForm, patchOf, textOf } from './override-values.js'

const GRIDS = [
  'WebMercatorQuad',
  'WorldCRS84Quad',
  'CGCS2000Quad',
] as const satisfies readonly AdminBasemapVersion['tile_matrix_set'][]
const FORMATS = ['png', 'jpg', 'webp', 'avif', 'pbf', 'mlt'] as const satisfies readonly AdminBasemapVersion['format'][]

export interface OverridesProps {
  readonly basemap: AdminBasemap
  readonly version: AdminBasemapVersion
}

/** The scanned values, the overrides, and a map that previews the values of the form. */
export function OverridesSection({ basemap, version }: OverridesProps) {
  const { overrides: t, common } = useTexts()
  const mayChange = useAllowed('operator')
  const { scanned, overrides } = version
  const write = useOverride(
    { code: basemap.code, version: version.version },
    {
      onError: (error) => notifyFailed(t.failed, error),
    },
  )
  const stored = formOf(overrides)
  const isRange = (min: string, max: string) => Number(min || scanned.min_zoom) <= Number(max || scanned.max_zoom)
  const form = useForm<OverrideForm>({
    initialValues: stored,
    validate: {
      bounds: (text) => (text.trim() === '' || boundsOf(text) !== null ? null : t.boundsWrong),
      min_zoom: (text) => (text === '' || isZoom(text) ? null : t.zoomWrong),
      max_zoom: (text, { min_zoom }) => {
        if (text !== '' && !isZoom(text)) return t.zoomWrong
        return isRange(min_zoom, text) ? null : t.zoomsWrong
      },
    },
    validateInputOnChange: true,
  })
  const { values } = form
  const draft = useMemo(() => draftOf(version, values), [version, values])
  const patch = patchOf(values, overrides)
  const isSame = Object.keys(patch).length === 0
  // Only after the saved version was read: until then, a clean form would show the values before it.
  const onSaved = () => {
    form.resetDirty()
    notifyDone(t.done(shortText(`${basemap.name} ${version.version}`)))
  }
  const save = form.onSubmit((entered) => write.mutate(patchOf(entered, overrides), { onSuccess: onSaved }))
  const field = (name: keyof OverrideForm) => ({
    label: t.fields[name],
    description: t.scanned(textOf(scanned[name]) || t.nothing),
    ...form.getInputProps(name),
  })
  const choices = (all: readonly string[], words: Readonly<Record<string, string>> = {}) => [
    { value: '', label: t.asScanned },
    ...all.map((value) => ({ value, label: words[value] ?? value })),
  ]
  return (
    <Section title={t.title} note={t.lead}>
      <form onSubmit={save} noValidate>
        <FormGuard isDirty={() => form.isDirty()} />
        <Stack>
          <ChangedElsewhere form={form} stored={stored} saving={write.isPending} />
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
            <NativeSelect
              {...field('storage')}
              disabled={!mayChange || scanned.storage === null}
              data={choices(['xyz', 'tms'], t.orders)}
            />
            <NativeSelect {...field('tile_matrix_set')} disabled={!mayChange} data={choices(GRIDS)} />
            <NativeSelect {...field('format')} disabled={!mayChange} data={choices(FORMATS)} />
            <TextInput {...field('bounds')} disabled={!mayChange} placeholder="-180, -85, 180, 85" />
            <TextInput {...field('min_zoom')} disabled={!mayChange} inputMode="numeric" />
            <TextInput
              {...field('max_zoom')}
              // The range also depends on min_zoom, which has its own validation.
              error={form.errors.max_zoom ?? (isRange(values.min_zoom, values.max_zoom) ? null : t.zoomsWrong)}
              disabled={!mayChange}
              inputMode="numeric"
            />
            <TextInput {...field('name')} disabled={!mayChange} />
            <TextInput {...field('attribution')} disabled={!mayChange} />
            <NativeSelect
              {...field('coordinate_offset')}
              disabled={!mayChange}
              data={choices(['gcj02'], { gcj02: 'GCJ-02' })}
            />
          </SimpleGrid>
          {!isSame && isServed(basemap) && isServed(version) && (
            <Stack gap={4}>
              <Text size="sm" fw={500}>
                {t.preview}
              </Text>
              <VersionMap
                // The key remounts the map, because another grid or other bounds need a new initial view.
                key={`${draft.version.tile_matrix_set} ${draft.version.bounds}`}
                code={basemap.code}
                version={draft.version}
                served={draft.served}
                grid={false}
              />
            </Stack>
          )}
          <Group>
            <WriteButton needs="operator" type="submit" disabled={isSame} loading={write.isPending}>
              {common.save}
            </WriteButton>
            {!isSame && (
              <WriteButton needs="operator" variant="default" onClick={() => form.setValues(stored)}>
                {t.reset}
              </WriteButton>
            )}
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
