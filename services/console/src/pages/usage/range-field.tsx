import { Group, SegmentedControl, TextInput } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'

interface RangeFieldProps<R extends string> {
  readonly ranges: readonly R[]
  readonly value: R | 'custom'
  readonly onChange: (range: R) => void
  /** absent: the user cannot enter a custom range */
  readonly own?: {
    readonly fromMs: number
    readonly toMs: number
    readonly onChange: (fromMs: number, toMs: number) => void
  }
  /** name of the part, if the page has several fields */
  readonly of?: string
}

/** Selects how far back the charts reach, or a custom range. */
export function RangeField<R extends string>({ ranges, value, onChange, own, of }: RangeFieldProps<R>) {
  const { usage: t, work } = useTexts()
  const custom = own === undefined ? [] : (['custom'] as const)
  const words = (range: R | 'custom') => (work.charts.ranges as Readonly<Record<string, string>>)[range] ?? range
  const moment = (label: string, ms: number, onMoment: (ms: number) => void) => (
    <TextInput
      type="datetime-local"
      size="xs"
      aria-label={label}
      key={ms}
      defaultValue={localMinute(ms)}
      onBlur={(event) => {
        const at = Date.parse(event.currentTarget.value)
        if (!Number.isNaN(at) && localMinute(at) !== localMinute(ms)) onMoment(at)
      }}
    />
  )
  return (
    <Group gap="xs">
      {value === 'custom' && own !== undefined && (
        <>
          {moment(work.charts.from, own.fromMs, (ms) => ms < own.toMs && own.onChange(ms, own.toMs))}
          {moment(work.charts.to, own.toMs, (ms) => ms > own.fromMs && own.onChange(own.fromMs, ms))}
        </>
      )}
      <SegmentedControl
        aria-label={of === undefined ? t.range : `${of}: ${t.range}`}
        size="xs"
        data={[...ranges, ...custom].map((range) => ({ value: range, label: words(range) }))}
        value={value}
        onChange={(range) => (range === 'custom' ? own?.onChange(own.fromMs, own.toMs) : onChange(range as R))}
      />
    </Group>
  )
}

/** Formats a time for the browser's input field, in the viewer's zone. */
function localMinute(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
