import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FindCodes } from '../api/catalog.js'
import { useTexts } from '../texts/texts.js'

/** Time in ms after the last key press before the service is asked. */
const SEARCH_AFTER_MS = 150

interface CodeSelectProps {
  readonly label: string
  readonly kind: 'basemaps' | 'vectors' | 'targets'
  readonly find: FindCodes
  /** empty: nothing is selected */
  readonly value: string
  readonly onChange: (code: string) => void
  /** label of the empty choice; with it the selection can be cleared */
  readonly none?: string
}

/** Selects one object of the service, found by code or name. */
export function CodeSelect({ label, kind, find, value, onChange, none }: CodeSelectProps) {
  const t = useTexts().tokens
  const [typed, setTyped] = useState(value)
  // The selected value needs no search.
  const [settled] = useDebouncedValue(typed === value ? '' : typed.trim(), SEARCH_AFTER_MS)
  const { data: found = [], isFetched } = useQuery({
    queryKey: [kind, 'find', settled],
    queryFn: ({ signal }) => find(settled, signal),
    placeholderData: keepPreviousData,
  })
  const names = new Map(found.map(({ code, name }) => [code, name]))
  const codes = [...new Set([...names.keys(), ...(value === '' ? [] : [value])])]
  return (
    <Select
      label={label}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // Disables the filter, since the service has already searched.
      filter={({ options }) => options}
      data={codes}
      renderOption={({ option: { value: code } }) => {
        const name = names.get(code) ?? code
        return <bdi className="option-text">{name === code ? code : `${name} · ${code}`}</bdi>
      }}
      value={value || null}
      onChange={(code) => onChange(code ?? '')}
      {...(none !== undefined && { placeholder: none, clearable: true })}
      nothingFoundMessage={isFetched ? t.noMatch : undefined}
    />
  )
}
