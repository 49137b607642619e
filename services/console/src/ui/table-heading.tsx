import { Table, UnstyledButton, VisuallyHidden } from '@mantine/core'
import IconArrowDown from '~icons/arrow-down'
import IconArrowUp from '~icons/arrow-up'
import IconSelector from '~icons/selector'
import type { Column } from './columns.js'
import type { Sorting } from './table-rows.js'

interface TableHeadingProps {
  readonly column: Pick<Column<never>, 'header' | 'numeric' | 'share' | 'actions'>
  /** undefined: the column cannot be sorted; null: it is not sorted now */
  readonly sorting: Sorting | null | undefined
  readonly onSort: () => void
}

/** A column's heading, with a button that sorts by it. */
export function TableHeading({ column: { header, numeric, share, actions }, sorting, onSort }: TableHeadingProps) {
  if (actions) {
    return (
      <Table.Th role="columnheader" className="actions">
        <VisuallyHidden>{header}</VisuallyHidden>
      </Table.Th>
    )
  }
  const className = numeric ? 'numeric' : share ? 'long' : ''
  if (sorting === undefined) {
    return (
      <Table.Th role="columnheader" className={className}>
        {header}
      </Table.Th>
    )
  }
  const Arrow = sorting === null ? IconSelector : sorting.desc ? IconArrowDown : IconArrowUp
  return (
    <Table.Th
      role="columnheader"
      aria-sort={sorting === null ? 'none' : sorting.desc ? 'descending' : 'ascending'}
      className={className}
    >
      <UnstyledButton className="sort-button" onClick={onSort}>
        {header}
        <Arrow size={14} aria-hidden className={sorting === null ? 'quiet' : ''} />
      </UnstyledButton>
    </Table.Th>
  )
}
