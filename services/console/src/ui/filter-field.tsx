import { NativeSelect, TextInput } from '@mantine/core'
import { useTexts } from '../texts/texts.js'
import { useTyped } from './use-typed.js'

/** What the rows of a list can be narrowed to; in the address by the name of the service's parameter. */
export interface Filter<N extends string = string> {
  readonly name: N
  readonly label: string
  /** value, and how it is called; absent: the value is entered */
  readonly options?: readonly (readonly [string, string])[]
  /** how it is called that none of them is chosen; default: any */
  readonly otherwise?: string
  /** what is entered is a moment */
  readonly isMoment?: boolean
}

interface FilterFieldProps {
  readonly filter: Filter
  /** as in the address; empty: it does not filter */
  readonly value: string
  readonly onChange: (value: string) => void
}

/** One filter of a list: chosen from what there is, or entered. */
export function FilterField({ filter, value, onChange }: FilterFieldProps) {
  const t = useTexts().table
  const { label, options, otherwise = t.any(label), isMoment = false } = filter
  if (options === undefined)
    return <EnteredFilter label={label} isMoment={isMoment} value={value} onChange={onChange} />
  return (
    <NativeSelect
      aria-label={label}
      value={value}
      data={[{ value: '', label: otherwise }, ...options.map(([value, text]) => ({ value, label: text }))]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

interface EnteredFilterProps extends Pick<FilterFieldProps, 'value' | 'onChange'> {
  readonly label: string
  readonly isMoment: boolean
}

/** Takes effect by Enter or when the field is left: part of a value matches nothing. */
function EnteredFilter({ label, isMoment, value, onChange }: EnteredFilterProps) {
  const shown = isMoment ? localMoment(value) : value
  const { text, type, take } = useTyped(shown, (text) => onChange(isMoment ? isoMoment(text) : text.trim()), null)
  return (
    <TextInput
      {...(isMoment
        ? { label, type: 'datetime-local', max: '9999-12-31T23:59' }
        : { 'aria-label': label, placeholder: label })}
      value={text}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && take()}
    />
  )
}

/** As the browser's field takes it, in the viewer's zone; empty for what is no moment. */
function localMoment(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function isoMoment(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
