import { Group, Pagination, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useTexts } from '../texts/texts.js'

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
}

export function SearchField({ label, value, onChange }: SearchFieldProps) {
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      leftSection={<IconSearch size={16} aria-hidden />}
      className="search-field"
    />
  )
}

interface PagesProps {
  /** from 0 */
  readonly page: number
  readonly pageSize: number
  /** rows of all pages */
  readonly of: number
  readonly onChange: (page: number) => void
}

export function Pages({ page, pageSize, of, onChange }: PagesProps) {
  const t = useTexts().table
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed">
        {t.shown(page * pageSize + 1, Math.min(of, (page + 1) * pageSize), of)}
      </Text>
      <Pagination
        total={Math.ceil(of / pageSize)}
        value={page + 1}
        onChange={(n) => onChange(n - 1)}
        getControlProps={(control) => ({ 'aria-label': t[control] })}
        getItemProps={(n) => ({ 'aria-label': t.page(n) })}
      />
    </Group>
  )
}
