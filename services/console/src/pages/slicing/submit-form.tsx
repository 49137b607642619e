import type { KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import { layerCodeOf, wrongInLayerCode } from '@gateway/contracts/codes.js'
import type { ListedSliceJob, SliceEncoding, SliceResampling } from '@gateway/contracts/slice.js'
import { Alert, Autocomplete, Button, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { Call } from '../../api/client.js'
import type { SliceBody } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { codeProblem } from '../../ui/code-and-name.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { shortText } from '../../ui/shown-text.js'
import { WriteButton } from '../../ui/write-button.js'
import { Estimate } from './estimate.js'
import { ImagesField } from './images-field.js'
import { ZoomSuggestion } from './zoom-suggestion.js'

interface SubmitFormProps {
  readonly targetCode: string
  readonly sourcePaths: readonly string[]
  /** the initial directory of the picker; null: the list of allowed directories */
  readonly start: string | null
  /** codes of existing layers */
  readonly knownCodes: readonly string[]
  /** settings of the layer to rebuild; null for a new layer */
  readonly like: LayerSettings | null
  readonly pending: boolean
  readonly error: Error | null
  readonly commandOf: (body: SliceBody) => Call
  readonly onSubmit: (body: SliceBody) => void
}

export type LayerSettings = Pick<
  ListedSliceJob,
  'zoom_min' | 'zoom_max' | 'tile_size' | 'tile_format' | 'tile_matrix_set' | 'encoding' | 'resampling'
>

interface Values {
  target_code: string
  name: string
  source_paths: readonly string[]
  zoom_min: number
  zoom_max: number
  tile_size: string
  tile_format: string
  tile_matrix_set: KnownTileMatrixSetId
  encoding: SliceEncoding
  resampling: SliceResampling
  /** empty: as the layer is */
  output: '' | NonNullable<SliceBody['output']>
  callback_url: string
}

const MAX_ZOOM = 24
const DEFAULT_MAX_ZOOM = 12
const FORMATS = ['webp', 'png', 'avif']
const SIZES = ['256', '512']
const NEW: LayerSettings = {
  zoom_min: 0,
  zoom_max: DEFAULT_MAX_ZOOM,
  tile_size: 256,
  tile_format: 'webp',
  tile_matrix_set: 'WebMercatorQuad',
  encoding: 'rgb',
  resampling: 'auto',
}

export function SubmitForm(props: SubmitFormProps) {
  const t = useTexts()
  const [estimated, setEstimated] = useState<SliceBody | null>(null)
  const [zoomChosen, setZoomChosen] = useState(false)
  const like = props.like ?? NEW
  const form = useForm<Values>({
    initialValues: {
      target_code: props.targetCode,
      name: '',
      source_paths: props.sourcePaths,
      ...like,
      tile_size: String(like.tile_size),
      output: '',
      callback_url: '',
    },
    validate: {
      target_code: (code) =>
        codeProblem(code, wrongInLayerCode, t) ?? (layerCodeOf(code) === null ? t.slicing.codeNeeded : null),
      source_paths: (paths) => (paths.length === 0 ? t.slicing.sourcesNeeded : null),
      zoom_max: (max, { zoom_min: min }) => (isRange(min, max) ? null : t.slicing.zoomWrong),
      callback_url: (url) => (url === '' || /^https?:\/\//.test(url) ? null : t.pushes.urlWrong),
    },
  })
  const { target_code: code, source_paths: paths } = form.values
  return (
    <form onSubmit={form.onSubmit((values) => props.onSubmit(toBody(values)))} noValidate>
      <FormGuard isDirty={() => form.isDirty()} />
      <Stack gap="md">
        <Section title={t.slicing.sources}>
          <ImagesField start={props.start} {...form.getInputProps('source_paths')} />
          <Text size="sm" c="dimmed">
            {t.slicing.besideHint}
          </Text>
        </Section>
        <Section title={t.slicing.layer}>
          <Stack maw={640}>
            <Autocomplete
              label={t.slicing.code}
              description={t.slicing.codeHint}
              required
              data={[...props.knownCodes]}
              autoComplete="off"
              {...form.getInputProps('target_code')}
            />
            {props.knownCodes.includes(layerCodeOf(code) ?? '') && paths.length > 0 && (
              <Alert color="blue">
                {paths.length === 1 ? t.slicing.accumulates(shortText(code)) : t.slicing.rebuilds(shortText(code))}
              </Alert>
            )}
            <TextInput
              label={`${t.slicing.name} (${t.common.optional})`}
              autoComplete="off"
              {...form.getInputProps('name')}
            />
            <Group grow align="flex-start">
              <NumberInput label={t.slicing.zoomMin} min={0} max={MAX_ZOOM} {...form.getInputProps('zoom_min')} />
              <NumberInput
                label={t.slicing.zoomMax}
                min={0}
                max={MAX_ZOOM}
                {...form.getInputProps('zoom_max')}
                onFocus={() => setZoomChosen(true)}
              />
            </Group>
            <ZoomSuggestion
              of={toBody(form.values)}
              zoomMax={form.values.zoom_max}
              follows={props.like === null && !zoomChosen}
              onTake={(zoom) => form.setFieldValue('zoom_max', zoom)}
            />
            <Group grow align="flex-start">
              <NativeSelect label={t.slicing.tileSize} data={SIZES} {...form.getInputProps('tile_size')} />
              <NativeSelect
                label={t.slicing.tileFormat}
                data={formatsWith(like.tile_format)}
                {...form.getInputProps('tile_format')}
              />
            </Group>
            <Group grow align="flex-start">
              <NativeSelect
                label={t.slicing.grid}
                data={choices(t.slicing.grids)}
                {...form.getInputProps('tile_matrix_set')}
              />
              <NativeSelect
                label={t.slicing.encoding}
                description={t.slicing.encodingHint}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                data={choices(t.slicing.encodings)}
                {...form.getInputProps('encoding')}
              />
            </Group>
            <NativeSelect
              label={t.slicing.resampling}
              description={t.slicing.resamplingHint}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              data={choices(t.slicing.resamplings)}
              disabled={form.values.encoding !== 'rgb'}
              {...form.getInputProps('resampling')}
            />
            <NativeSelect
              label={t.slicing.storedAs}
              data={choices(t.slicing.outputs)}
              {...form.getInputProps('output')}
            />
            <TextInput
              label={`${t.slicing.callbackUrl} (${t.common.optional})`}
              description={t.slicing.callbackHint}
              type="url"
              autoComplete="off"
              {...form.getInputProps('callback_url')}
            />
          </Stack>
        </Section>
        {estimated !== null && <Estimate key={JSON.stringify(estimated)} body={estimated} />}
        {props.error !== null && <Problem title={t.slicing.sendFailed} error={props.error} />}
        <Group>
          <WriteButton needs="operator" type="submit" loading={props.pending}>
            {t.slicing.send}
          </WriteButton>
          <Button variant="default" onClick={() => form.onSubmit((values) => setEstimated(toBody(values)))()}>
            {t.slicing.estimate}
          </Button>
        </Group>
        <AsCommand command={() => props.commandOf(toBody(form.values))} />
      </Stack>
    </form>
  )
}

function isRange(min: number, max: number): boolean {
  return Number.isInteger(min) && Number.isInteger(max) && min >= 0 && max <= MAX_ZOOM && min <= max
}

function choices(labels: Readonly<Record<string, string>>) {
  return Object.entries(labels).map(([value, label]) => ({ value, label }))
}

/** Adds the format of an earlier job, which may have asked for any format. */
function formatsWith(format: string): string[] {
  return FORMATS.includes(format) ? FORMATS : [...FORMATS, format]
}

function toBody(values: Values): SliceBody {
  const { name, callback_url: callback, tile_size: size, output, resampling, ...rest } = values
  return {
    ...rest,
    tile_size: Number(size) as NonNullable<SliceBody['tile_size']>,
    ...(name.trim() !== '' && { name: name.trim() }),
    // Heights accept no other, and the default is omitted.
    ...(resampling !== 'auto' && rest.encoding === 'rgb' && { resampling }),
    ...(output !== '' && { output }),
    ...(callback !== '' && { callback_url: callback }),
  }
}
