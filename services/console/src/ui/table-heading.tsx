import { Table, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconSelector } from '@tabler/icons-react'
import type { Header, RowData } from '@tanstack/react-table'
import type { Column } from './column.js'
import type { features } from './table-features.js'

const ARROWS = { asc: IconArrowUp, desc: IconArrowDown, none: IconSelector } as const
const ARIA_SORT = { asc: 'ascending', desc: 'descending', none: 'none' } as const

/** A column's heading; a button that sorts by it. */
export function TableHeading<T extends RowData>({
  header,
  column,
}: {
  header: Header<typeof features, T>
  column: Column<T>
}) {
  if (column.actions) {
    return (
      <Table.Th role="columnheader">
        <VisuallyHidden>{column.header}</VisuallyHidden>
      </Table.Th>
    )
  }
  const sorted = header.column.getIsSorted() || 'none'
  const Arrow = ARROWS[sorted]
  return (
    <Table.Th role="columnheader" aria-sort={ARIA_SORT[sorted]} className={column.numeric ? 'numeric' : ''}>
      <UnstyledButton className="sort-button" onClick={header.column.getToggleSortingHandler()}>
        {column.header}
        <Arrow size={14} aria-hidden className={sorted === 'none' ? 'quiet' : ''} />
      </UnstyledButton>
    </Table.Th>
  )
}
