import { NativeSelect, TextInput } from '@mantine/core'
import { useTexts } from '../texts/texts.js'
import { useTyped } from './use-typed.js'

/** A filter of a list. Its name in the URL is the service's parameter. */
export interface Filter<N extends string = string> {
  readonly name: N
  readonly label: string
  /** values with their labels; absent: the user types the value */
  readonly options?: readonly (readonly [string, string])[]
  /** label for no filter; default: any */
  readonly otherwise?: string
  /** true if the value is a time */
  readonly isMoment?: boolean
}

interface FilterFieldProps {
  readonly filter: Filter
  /** as in the URL; empty: no filter */
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A filter of a list: a choice of values, or a text field. */
export function FilterField({ filter, value, onChange }: FilterFieldProps) {
  const { table: t, common } = useTexts()
  const { label, options, otherwise = t.any(label), isMoment = false } = filter
  if (options === undefined)
    return <EnteredFilter label={label} isMoment={isMoment} value={value} onChange={onChange} />
  return (
    <NativeSelect
      aria-label={label}
      value={value}
      data={[
        { value: '', label: otherwise },
        ...options.map(([value, text]) => {
          // A bare "no" does not say to which question.
          const isBare = text === common.yes || text === common.no
          return { value, label: isBare ? `${label}: ${text}` : text }
        }),
      ]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

interface EnteredFilterProps extends Pick<FilterFieldProps, 'value' | 'onChange'> {
  readonly label: string
  readonly isMoment: boolean
}

/** Milliseconds after which a whole time takes effect: a picker leaves the focus in the field, and years are typed digit by digit. */
const MOMENT_SETTLED_MS = 800

/** A year of which only the first digits are typed: 2 for 2026 is the year 0002. */
const BEGUN_YEAR = /^0/

/** Width of a field for a code or a tag, so that the filters of a list fit in one row. */
const ENTERED_WIDTH = '10rem'

/** Applies the value on Enter or blur, since a part of a value matches nothing. The browser reports a time only if it is whole. */
function EnteredFilter({ label, isMoment, value, onChange }: EnteredFilterProps) {
  const shown = isMoment ? localMoment(value) : value
  const delay = isMoment ? MOMENT_SETTLED_MS : null
  const keep = (text: string) => {
    if (!isMoment) onChange(text.trim())
    else if (!BEGUN_YEAR.test(text)) onChange(isoMoment(text))
  }
  const { text, type, take } = useTyped(shown, keep, delay)
  return (
    <TextInput
      {...(isMoment
        ? { label, type: 'datetime-local', max: '9999-12-31T23:59' }
        : { 'aria-label': label, placeholder: label, w: ENTERED_WIDTH })}
      value={text}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && take()}
    />
  )
}

/** Formats a time for the browser's input field, in the viewer's zone; empty for an invalid time. */
function localMoment(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function isoMoment(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
