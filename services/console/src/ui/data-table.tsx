import { Group } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useTexts } from '../texts/texts.js'
import type { Column } from './columns.js'
import { Empty } from './empty.js'
import { Pages, SearchField, TableFrame } from './table-frame.js'
import { filterRows, nextSorting, parseSorting, sortingText, sortRows } from './table-rows.js'
import { useParameters } from './use-parameter.js'

export interface DataTableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly rowKey: (row: T) => string
  /** as in the URL: `name`, or `-name` for descending */
  readonly sortedBy?: string
  /** label of the search field; undefined: no search. At most one table of a page has a search */
  readonly search?: string
  /** true for many columns of short values, which scroll sideways on a phone instead of becoming long cards */
  readonly wide?: boolean
  /** default: 25 */
  readonly pageSize?: number
}

const PAGE_SIZE = 25

/** A table with search, sorting and pages; on a phone each row is a card. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { label, rows, columns, rowKey, search, wide, pageSize = PAGE_SIZE } = props
  const t = useTexts()
  const { q, sort, page: wanted, set } = useTableState(search !== undefined)
  const sorting = parseSorting(sort ?? props.sortedBy ?? null)
  // The values of columns change only with the rows or the language.
  // biome-ignore lint/correctness/useExhaustiveDependencies: every render creates new columns
  const found = useMemo(() => {
    return sortRows(filterRows(rows, columns, q), columns, sorting)
  }, [rows, t, q, sort])
  // Keeps the page when rows appear and disappear, unless the page no longer exists.
  const page = Math.min(wanted, Math.max(1, Math.ceil(found.length / pageSize)))
  const [from, to] = [(page - 1) * pageSize, Math.min(found.length, page * pageSize)]
  const pages = Math.ceil(found.length / pageSize)
  return (
    <>
      {search !== undefined && (
        <Group gap="sm">
          <SearchField
            label={search}
            value={q}
            found={q === '' ? null : found.length}
            onChange={(text) => set({ q: text, page: null })}
          />
        </Group>
      )}
      {found.length === 0 && q !== '' ? (
        <Empty title={t.table.nothingFound(q)}>{t.table.nothingFoundAdvice}</Empty>
      ) : (
        <TableFrame
          label={label}
          columns={columns}
          rows={found.slice(from, to)}
          rowKey={rowKey}
          sortingOf={({ id }) => (sorting?.id === id ? sorting : null)}
          onSort={(column) => set({ sort: sortingText(nextSorting(parseSorting(sort), column)), page: null })}
          {...(wide !== undefined && { wide })}
        />
      )}
      <Pages
        from={from + 1}
        to={to}
        of={found.length}
        page={page}
        pages={pages}
        onPage={(n) => set({ page: n === 1 ? null : String(n) })}
      />
    </>
  )
}

interface TableState {
  readonly q: string | null
  readonly sort: string | null
  readonly page: string | null
}

/** Search, sorting and page. A page's main table keeps them in the URL, so that Back and shared links restore them. */
function useTableState(inAddress: boolean) {
  const [parameters, setParameters] = useParameters()
  const [state, setState] = useState<TableState>({ q: null, sort: null, page: null })
  const read = (name: keyof TableState) => (inAddress ? parameters.get(name) : state[name])
  return {
    q: read('q') ?? '',
    sort: read('sort'),
    page: Math.max(1, Number(read('page')) || 1),
    set: (values: Partial<TableState>) => (inAddress ? setParameters(values) : setState({ ...state, ...values })),
  }
}
