import { Text } from '@mantine/core'
import type { TablerIcon } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { List } from '../api/client.js'
import { DataTable, type DataTableProps } from './data-table.js'
import { Empty } from './empty.js'
import { Loaded } from './loaded.js'
import { Page } from './page.js'
import { Section } from './section.js'

export interface ListTableProps<T> extends Omit<DataTableProps<T>, 'rows'> {
  readonly query: UseQueryResult<List<T>>
  /** what is being loaded, for the message of a failure */
  readonly what: string
  /** shown while the list is empty */
  readonly empty: {
    readonly title: string
    readonly icon: TablerIcon
    readonly action: ReactNode
    readonly advice: ReactNode
  }
  /** says that there are more than are listed */
  readonly cut?: (listed: number, total: number) => string
}

/** A list of the service as a table, or what to do first where it is empty. */
export function ListTable<T>({ query, what, empty, cut, ...table }: ListTableProps<T>) {
  return (
    <Loaded query={query} what={what}>
      {({ items, total }) =>
        items.length === 0 ? (
          <Empty title={empty.title} icon={empty.icon} action={empty.action}>
            {empty.advice}
          </Empty>
        ) : (
          <>
            <DataTable {...table} rows={items} />
            {cut !== undefined && total > items.length && (
              <Text size="sm" c="dimmed">
                {cut(items.length, total)}
              </Text>
            )}
          </>
        )
      }
    </Loaded>
  )
}

export interface ListPageProps<T> extends Pick<ListTableProps<T>, 'query' | 'columns' | 'rowKey' | 'cut'> {
  readonly texts: Readonly<Record<'title' | 'lead' | 'what' | 'empty' | 'emptyAdvice' | 'search', string>>
  readonly icon: TablerIcon
  /** beside the heading */
  readonly actions?: ReactNode
  /** what to do first where the list is empty */
  readonly first: ReactNode
  readonly children?: ReactNode
}

/** A page that is one list. */
export function ListPage<T>({ texts, icon, actions, first, children, ...list }: ListPageProps<T>) {
  const { title, lead, what, empty, emptyAdvice, search } = texts
  return (
    <Page title={title} lead={lead} actions={actions}>
      <Section title={title} quiet>
        <ListTable
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
