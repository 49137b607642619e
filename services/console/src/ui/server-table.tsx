import { Group } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type ListSource, useList, withoutSecret } from '../api/list.js'
import { useAllowed } from '../api/session.js'
import { useTexts } from '../texts/texts.js'
import type { Bulk } from './bulk.js'
import { BulkBar } from './bulk-bar.js'
import type { Column } from './columns.js'
import { Empty } from './empty.js'
import { FilterChips } from './filter-chips.js'
import { type Filter, FilterField } from './filter-field.js'
import type { Icon } from './icon.js'
import { Loaded } from './loaded.js'
import { OptionsButton } from './options-button.js'
import { Page } from './page.js'
import { part } from './part.js'
import { Section } from './section.js'
import { Pages, SearchField, TableFrame } from './table-frame.js'
import { nextSorting, parseSorting, sortingText } from './table-rows.js'
import { type ListOptionsProps, useHiddenColumns } from './use-hidden-columns.js'
import { useSelection } from './use-selection.js'

/** The filters of a list. */
export type FiltersOf<S> = S extends ListSource<unknown, infer Q> ? readonly Filter<keyof Q & string>[] : never

interface ServerTableProps<T, Q> {
  readonly source: ListSource<T, Q>
  readonly label: string
  readonly rowKey: (row: T) => string
  /** label of the search field; undefined: no search */
  readonly search?: string
  /** loaded content, for the message of a failure */
  readonly what: string
  /** shown while the list is empty */
  readonly empty: NothingYetProps
  /** columns with `sort` can be sorted */
  readonly columns: readonly Column<T>[]
  readonly filters?: readonly Filter<keyof Q & string>[]
  /** in the service's form, such as `-version`; default: the service's order */
  readonly order?: string
  /** actions for many rows */
  readonly bulk?: Bulk<T>
}

/** A list of the service as a table, which the service searches, filters, sorts and pages. At most one on a page. */
export function ServerTable<T, Q>({
  source,
  columns,
  filters = [],
  order,
  search,
  bulk: offered,
  ...table
}: ServerTableProps<T, Q>) {
  const t = useTexts()
  const bulk = useAllowedBulk(offered)
  const sortable = columns.flatMap(({ sort }) => sort ?? [])
  const list = useList(source, sortable, order)
  const sorting = parseSorting(list.sort)
  const seen = useHiddenColumns(source.key, columns)
  const { items = [], total: found = 0 } = list.query.data ?? {}
  const selection = useSelection(items, table.rowKey, list.filter, found)
  const onSort = (column: Column<T>) => {
    const next = nextSorting(parseSorting(list.chosen), { id: column.sort as string, numeric: column.numeric ?? false })
    list.set({ sort: sortingText(next), page: null })
  }
  const { data } = list.query
  const isNarrowed = list.isNarrowed || list.q !== ''
  if (data?.total === 0 && !isNarrowed) return <NothingYet {...table.empty} />
  return (
    <>
      {/* They stay if a search fails, because they hold what was typed. */}
      {(data !== undefined || isNarrowed) && (
        <>
          <Group gap="sm" align="flex-end">
            {search !== undefined && (
              <SearchField
                label={search}
                value={list.q}
                found={list.isNarrowed ? (data?.total ?? null) : null}
                onChange={(text) => list.set({ q: withoutSecret(text), page: null })}
              />
            )}
            {filters.map((filter) => (
              <FilterField
                key={filter.name}
                filter={filter}
                value={list.filters[filter.name] ?? ''}
                onChange={(value) => list.set({ [filter.name]: value, page: null })}
              />
            ))}
            <ListOptions source={source as never} query={list.matching} columns={seen} />
          </Group>
          <FilterChips
            filters={filters}
            values={list.filters}
            onRemove={(name) => list.set({ [name]: null, page: null })}
          />
        </>
      )}
      <Loaded query={list.query} what={table.what}>
        {({ items, total }) => {
          const from = (list.page - 1) * list.pageSize
          return (
            <>
              {bulk !== undefined && <BulkBar bulk={bulk} selection={selection} total={total} />}
              {total === 0 ? (
                <Empty title={list.q === '' ? t.table.nothingLeft : t.table.nothingFound(list.q)}>
                  {t.table.nothingFoundAdvice}
                </Empty>
              ) : (
                <TableFrame
                  label={table.label}
                  columns={seen.shown}
                  rows={items}
                  rowKey={table.rowKey}
                  sortingOf={({ sort }) => (sort === undefined ? undefined : sorting?.id === sort ? sorting : null)}
                  onSort={onSort}
                  busy={list.query.isPlaceholderData}
                  {...(bulk !== undefined && { selection: { ...selection, nameOf: bulk.nameOf } })}
                />
              )}
              <Pages
                from={from + 1}
                to={from + items.length}
                of={total}
                page={list.page}
                pages={list.pages}
                size={list.pageSize}
                onSize={(size) => {
                  list.setPageSize(size)
                  list.set({ page: null })
                }}
                onPage={(n) => list.set({ page: n === 1 ? null : String(n) })}
              />
            </>
          )
        }}
      </Loaded>
    </>
  )
}

/** Without the actions that the viewer's role does not allow; rows are selected only if there is one left. */
function useAllowedBulk<T>(bulk: Bulk<T> | undefined): Bulk<T> | undefined {
  const isAllowed = { viewer: true, operator: useAllowed('operator'), admin: useAllowed('admin') }
  const actions = bulk?.actions.filter(({ needs }) => isAllowed[needs]) ?? []
  return bulk === undefined || actions.length === 0 ? undefined : { ...bulk, actions }
}

interface NothingYetProps {
  readonly title: string
  readonly icon: Icon
  /** the first action to take */
  readonly action: ReactNode
  readonly advice: ReactNode
}

function NothingYet({ title, icon, action, advice }: NothingYetProps) {
  return (
    <Empty title={title} icon={icon} action={action}>
      {advice}
    </Empty>
  )
}

interface ServerListPageProps<T, Q>
  extends Pick<ServerTableProps<T, Q>, 'source' | 'columns' | 'filters' | 'rowKey' | 'bulk'> {
  readonly texts: Readonly<Record<'title' | 'lead' | 'what' | 'empty' | 'emptyAdvice' | 'search', string>>
  readonly icon: Icon
  /** next to the heading */
  readonly actions?: ReactNode
  /** the first action to take if the list is empty */
  readonly first: ReactNode
  readonly children?: ReactNode
}

/** A page that is one list of the service. */
export function ServerListPage<T, Q>({ texts, icon, actions, first, children, ...list }: ServerListPageProps<T, Q>) {
  const { title, lead, what, empty, emptyAdvice, search } = texts
  return (
    <Page title={title} lead={lead} actions={actions}>
      <Section title={title} quiet>
        <ServerTable
          {...list}
          what={what}
          empty={{ title: empty, icon, action: first, advice: emptyAdvice }}
          label={title}
          search={search}
        />
      </Section>
      {children}
    </Page>
  )
}

/** Loaded on demand, because the options are rarely opened. */
const OpenListOptions = part(async () => (await import('./list-options-panel.js')).default, {
  Pending: () => <OptionsButton onClick={() => {}} />,
})

/** The options of a list as a whole: its export to a file, its columns, and its saved views. */
function ListOptions<T>(props: ListOptionsProps<T>) {
  const [asked, setAsked] = useState(false)
  if (!asked) return <OptionsButton onClick={() => setAsked(true)} />
  return <OpenListOptions {...(props as unknown as ListOptionsProps<unknown>)} />
}
