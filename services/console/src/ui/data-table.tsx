import { Table, VisuallyHidden } from '@mantine/core'
import { type ColumnDef, type RowData, useTable } from '@tanstack/react-table'
import { useMemo, useState } from 'react'
import { useTexts } from '../texts/texts.js'
import type { Column } from './column.js'
import { Empty } from './empty.js'
import { features } from './table-features.js'
import { TableHeading } from './table-heading.js'
import { Pages, SearchField } from './table-tools.js'
import { useSearchText } from './use-search-text.js'

export interface DataTableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly rowKey: (row: T) => string
  readonly sortedBy?: { readonly id: string; readonly desc: boolean }
  /** words in the search field; without them there is none */
  readonly search?: string
  /** many columns of short values: on a phone it scrolls sideways instead of making a long card of each row */
  readonly wide?: boolean
  /** default: 25 */
  readonly pageSize?: number
}

const PAGE_SIZE = 25

/** A table with search (kept in the address), sorting and pages; on a phone each row is a card. */
export function DataTable<T extends RowData>(props: DataTableProps<T>) {
  const { label, rows, columns, rowKey, sortedBy, search, wide, pageSize = PAGE_SIZE } = props
  const t = useTexts()
  const [text, setText] = useSearchText()
  const [wantedPage, setWantedPage] = useState(0)
  const defs = useMemo(() => columns.map(toDefinition), [columns])
  const sorting = useMemo(() => (sortedBy ? [{ ...sortedBy }] : []), [sortedBy])
  const table = useTable({
    features,
    columns: defs,
    data: rows as T[],
    getRowId: rowKey,
    state: { globalFilter: search === undefined ? '' : text },
    initialState: { sorting },
    globalFilterFn: 'includesString',
    getColumnCanGlobalFilter: () => true,
  })
  const found = table.getFilteredRowModel().rows.length
  // Rows come and go by themselves: the page stays where it is, unless it is gone.
  const page = Math.min(wantedPage, Math.max(1, Math.ceil(found / pageSize)) - 1)
  const visible = table.getSortedRowModel().rows.slice(page * pageSize, (page + 1) * pageSize)
  const searched = search !== undefined && text !== ''
  return (
    <>
      {search !== undefined && <SearchField label={search} value={text} onChange={setText} />}
      <VisuallyHidden role="status">{searched ? t.table.found(found) : ''}</VisuallyHidden>
      {found === 0 && searched ? (
        <Empty title={t.table.nothingFound(text)}>{t.table.nothingFoundAdvice}</Empty>
      ) : (
        <div className="table-scroll">
          <Table
            className={wide ? 'data-table' : 'data-table cards'}
            aria-label={label}
            role="table"
            highlightOnHover
            verticalSpacing="xs"
          >
            <Table.Thead role="rowgroup">
              <Table.Tr role="row">
                {(table.getHeaderGroups()[0]?.headers ?? []).map((header, i) => (
                  <TableHeading key={header.id} header={header} column={columns[i] as Column<T>} />
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody role="rowgroup">
              {visible.map(({ id, original }) => (
                <Row key={id} row={original} columns={columns} />
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {found > pageSize && <Pages page={page} pageSize={pageSize} of={found} onChange={setWantedPage} />}
    </>
  )
}

function Row<T>({ row, columns }: { row: T; columns: readonly Column<T>[] }) {
  return (
    <Table.Tr role="row">
      {columns.map(({ id, header, numeric, actions, cell, value }) => (
        <Table.Td
          key={id}
          role="cell"
          data-label={actions ? undefined : header}
          className={numeric ? 'numeric' : actions ? 'actions' : ''}
        >
          {cell ? cell(row) : value(row)}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}

function toDefinition<T extends RowData>(column: Column<T>): ColumnDef<typeof features, T> {
  return {
    id: column.id,
    accessorFn: (row: T) => column.value(row),
    enableSorting: !column.actions,
    sortFn: column.numeric ? 'basic' : 'alphanumeric',
  } as ColumnDef<typeof features, T>
}
