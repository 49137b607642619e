import { wrongInCode } from '@gateway/contracts/codes.js'
import type { ScanSource, ScanSourceBody } from '@gateway/contracts/scan-source.js'
import { NumberInput, Textarea } from '@mantine/core'
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
