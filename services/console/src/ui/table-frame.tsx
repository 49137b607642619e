import { Checkbox, Group, NativeSelect, Pagination, Table, Text, TextInput, VisuallyHidden } from '@mantine/core'
import IconSearch from '~icons/search'
import { PAGE_SIZES } from '../api/list.js'
import { useTexts } from '../texts/texts.js'
import type { Column } from './columns.js'
import { TableHeading } from './table-heading.js'
import type { Sorting } from './table-rows.js'
import type { Selection } from './use-selection.js'
import { useTyped } from './use-typed.js'

interface TableFrameProps<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string
  /** undefined: the column cannot be sorted; null: it is not sorted now */
  readonly sortingOf: (column: Column<T>) => Sorting | null | undefined
  readonly onSort: (column: Column<T>) => void
  /** true for many columns of short values, which scroll sideways on a phone instead of becoming long cards */
  readonly wide?: boolean
  /** true while other rows are loaded */
  readonly busy?: boolean
  /** selection of rows */
  readonly selection?: RowSelection<T>
}

interface RowSelection<T> extends Pick<Selection<T>, 'isSelected' | 'isPage' | 'isSome' | 'toggle' | 'togglePage'> {
  readonly nameOf: (row: T) => string
}

/** Headings and rows; on a phone each row is a card. */
export function TableFrame<T>(props: TableFrameProps<T>) {
  const { label, columns, rows, rowKey, sortingOf, onSort, wide, busy, selection } = props
  const t = useTexts().work.bulk
  return (
    <div className="table-scroll">
      <Table
        className={wide ? 'data-table' : 'data-table cards'}
        aria-label={label}
        aria-busy={busy}
        role="table"
        highlightOnHover
        verticalSpacing="xs"
      >
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {selection !== undefined && (
              <Table.Th role="columnheader" className="select">
                <Checkbox
                  size="xs"
                  aria-label={t.selectPage}
                  checked={selection.isPage}
                  indeterminate={selection.isSome && !selection.isPage}
                  onChange={selection.togglePage}
                />
              </Table.Th>
            )}
            {columns.map((column) => (
              <TableHeading key={column.id} column={column} sorting={sortingOf(column)} onSort={() => onSort(column)} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Row
              key={rowKey(row)}
              row={row}
              columns={columns}
              {...(selection !== undefined && { selection, isSelected: selection.isSelected(rowKey(row)) })}
            />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

interface RowProps<T> {
  readonly row: T
  readonly columns: readonly Column<T>[]
  readonly selection?: RowSelection<T>
  readonly isSelected?: boolean
}

function Row<T>({ row, columns, selection, isSelected = false }: RowProps<T>) {
  const t = useTexts().work.bulk
  return (
    <Table.Tr role="row" data-selected={isSelected || undefined} aria-selected={selection && isSelected}>
      {selection !== undefined && (
        <Table.Td role="cell" className="select">
          <Checkbox
            size="xs"
            aria-label={t.selectRow(selection.nameOf(row))}
            checked={isSelected}
            onChange={({ nativeEvent }) =>
              selection.toggle(row, (nativeEvent as unknown as MouseEvent).shiftKey === true)
            }
          />
        </Table.Td>
      )}
      {columns.map(({ id, header, numeric, share, actions, cell, value }, i) => (
        <Table.Td
          key={id}
          role="cell"
          data-label={actions ? undefined : header}
          className={numeric ? 'numeric' : actions ? 'actions' : share ? 'long' : i === 0 ? 'first' : ''}
          {...(share && { style: { '--share': `${share}%` } })}
        >
          {cell ? cell(row) : <bdi>{value(row)}</bdi>}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  /** null: no search */
  readonly found: number | null
  /** called after a pause in typing, or on Enter */
  readonly onChange: (text: string) => void
}

export function SearchField({ label, value, found, onChange }: SearchFieldProps) {
  const t = useTexts().table
  const { text, type, take } = useTyped(value, onChange)
  return (
    <>
      <TextInput
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && take()}
        leftSection={<IconSearch size={16} />}
        className="search-field"
        // Next to filters it takes the remaining width.
        flex="1 1 12rem"
      />
      <VisuallyHidden role="status">{found === null ? '' : t.found(found)}</VisuallyHidden>
    </>
  )
}

interface PagesProps {
  /** counted from 1 */
  readonly from: number
  readonly to: number
  readonly of: number
  readonly page: number
  readonly pages: number
  readonly onPage: (page: number) => void
  /** rows on a page; undefined: nobody may choose */
  readonly size?: number
  readonly onSize?: (size: number) => void
}

/** Shows the visible rows and their total, with links to the other pages and the choice of their length; nothing if all rows fit on the shortest page. */
export function Pages({ from, to, of, page, pages, onPage, size, onSize }: PagesProps) {
  const t = useTexts().table
  if (pages <= 1 && of <= PAGE_SIZES[0]) return null
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed">
        {t.shown(from, to, of)}
      </Text>
      {size !== undefined && (
        <NativeSelect
          size="xs"
          aria-label={t.pageSize}
          value={String(size)}
          data={PAGE_SIZES.map((n) => ({ value: String(n), label: t.rows(n) }))}
          onChange={(event) => onSize?.(Number(event.currentTarget.value))}
        />
      )}
      <Pagination
        total={pages}
        value={page}
        onChange={onPage}
        getControlProps={(control) => ({ 'aria-label': t[control] })}
        getItemProps={(n) => ({ 'aria-label': t.page(n) })}
      />
    </Group>
  )
}
