import { Group, Pill, Text } from '@mantine/core'
import { useTexts } from '../texts/texts.js'
import type { Filter } from './filter-field.js'
import { shortText } from './shown-text.js'

interface FilterChipsProps {
  readonly filters: readonly Filter[]
  /** by the service's name of the filter, as in the address; empty or null: no filter */
  readonly values: Readonly<Record<string, string | null>>
  readonly onRemove: (name: string) => void
}

/** The filters that narrow a list, each with a button that removes it. A link may set filters that have no field. */
export function FilterChips({ filters, values, onRemove }: FilterChipsProps) {
  const { table: t, common } = useTexts()
  const names: Readonly<Record<string, string>> = t.filters
  const words: Readonly<Record<string, string>> = { true: common.yes, false: common.no }
  const chips = Object.entries(values).flatMap(([name, value]) => {
    if (!value) return []
    const { label = names[name] ?? name, options = [] } = filters.find((filter) => filter.name === name) ?? {}
    const text = options.find(([option]) => option === value)?.[1] ?? words[value] ?? shortText(value)
    return [{ name, text: `${label}: ${text}` }]
  })
  if (chips.length === 0) return null
  return (
    <Group gap="xs" role="group" aria-label={t.filtered}>
      <Text size="sm" c="dimmed">
        {t.filtered}
      </Text>
      {chips.map(({ name, text }) => (
        <Pill
          key={name}
          size="md"
          withRemoveButton
          onRemove={() => onRemove(name)}
          removeButtonProps={{ 'aria-label': t.removeFilter(text), 'aria-hidden': false, tabIndex: 0 }}
        >
          {text}
        </Pill>
      ))}
    </Group>
  )
}
