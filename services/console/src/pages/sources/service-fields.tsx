import { wrongInCode } from '@gateway/contracts/codes.js'
import type { ScanSource, ScanSourceBody, TriedScan } from '@gateway/contracts/scan-source.js'
import { Checkbox, Group, Image, NumberInput, Stack, Text, Textarea } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useTexts } from '../../texts/texts.js'

/** The form values for a service of somebody else. */
export interface ServiceValues {
  /** a line `Name: value` for each; what is stored is never returned */
  readonly headers: string
  /** a line for each layer: its name, and after ` = ` the code of its basemap */
  readonly layers: string
  readonly concurrent: number
}

/** Requests at once, as the service has them by default. */
const CONCURRENT = 8
const ASSIGNED = /^(.+?) = (\S+)$/

export function serviceOf(source: ScanSource | undefined): ServiceValues {
  const { layers = [], options } = source ?? {}
  const { max_concurrent: concurrent = CONCURRENT } = (options ?? {}) as { max_concurrent?: number }
  const lines = layers.map((one) =>
    typeof one === 'string' ? one : one.code === undefined ? one.name : `${one.name} = ${one.code}`,
  )
  return { headers: '', layers: lines.join('\n'), concurrent }
}

const linesOf = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))

/** Returns the first line that is no header; null: all are. */
export function wrongHeader(text: string): string | null {
  return linesOf(text).find((line) => !/^[A-Za-z0-9-]+:\s*\S/.test(line)) ?? null
}

/** Returns the fields of a service. Stored headers stay if none is entered, and other options as they are. */
export function serviceBody(
  { headers, layers, concurrent }: ServiceValues,
  source: ScanSource | undefined,
): Pick<ScanSourceBody, 'headers' | 'layers' | 'options'> {
  const entered = linesOf(headers).map((line) => [
    line.slice(0, line.indexOf(':')).trim(),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  const taken = linesOf(layers).map((line) => {
    const [, name = '', code = ''] = ASSIGNED.exec(line) ?? []
    return name !== '' && wrongInCode(code) === null ? { name, code } : line
  })
  return {
    ...(entered.length > 0 && { headers: Object.fromEntries(entered) }),
    ...((taken.length > 0 || source?.layers !== undefined) && { layers: taken }),
    options: { ...source?.options, max_concurrent: concurrent },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the form has further values
export function ServiceFields({ form, hasHeaders }: { form: UseFormReturnType<any>; hasHeaders: boolean }) {
  const t = useTexts().sources
  const text = { rows: 3, resize: 'vertical', autoComplete: 'off', spellCheck: false } as const
  return (
    <>
      <Textarea
        label={t.headers}
        description={hasHeaders ? t.headersKept : t.headersHint}
        {...text}
        {...form.getInputProps('headers')}
      />
      <Textarea label={t.layers} description={t.layersHint} {...text} {...form.getInputProps('layers')} />
      <NumberInput
        label={t.concurrent}
        description={t.concurrentHint}
        min={1}
        max={64}
        allowDecimal={false}
        {...form.getInputProps('concurrent')}
      />
    </>
  )
}

type TriedLayer = NonNullable<TriedScan['layers']>[number]

/** Pixels of the pictures of layers. */
const PREVIEW = 48

/** The layers that a trial has found, each with a picture and a box that takes it. The boxes write the field of layers; an empty field takes all. */
export function LayerChoice({
  layers,
  taken,
  onTake,
}: {
  readonly layers: readonly TriedLayer[]
  readonly taken: string
  readonly onTake: (layers: string) => void
}) {
  const t = useTexts().sources
  const lines = linesOf(taken)
  const lineOf = (layer: string) => lines.find((line) => line === layer || ASSIGNED.exec(line)?.[1] === layer)
  const isTaken = (layer: string) => lines.length === 0 || lineOf(layer) !== undefined
  const take = (changed: string, wanted: boolean) => {
    const next = layers.filter(({ layer }) => (layer === changed ? wanted : isTaken(layer)))
    const all = next.length === layers.length && lines.every((line) => !ASSIGNED.test(line))
    onTake(all ? '' : next.map(({ layer }) => lineOf(layer) ?? layer).join('\n'))
  }
  return (
    <Stack gap="xs" mt="xs" role="group" aria-label={t.layers}>
      {layers.map(({ layer, code, name, preview }) => (
        <Group key={code} gap="sm" wrap="nowrap">
          <Checkbox
            checked={isTaken(layer)}
            disabled={layer === ''}
            aria-label={name ?? code}
            onChange={({ currentTarget }) => take(layer, currentTarget.checked)}
          />
          <Image src={preview} w={PREVIEW} h={PREVIEW} radius="sm" alt="" fallbackSrc={NO_PICTURE} />
          <Text size="sm" component="div">
            <bdi>{name ?? code}</bdi>
            <Text size="xs" c="dimmed">
              {code}
            </Text>
          </Text>
        </Group>
      ))}
    </Stack>
  )
}

/** A transparent pixel, for layers without a picture. */
const NO_PICTURE = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='
