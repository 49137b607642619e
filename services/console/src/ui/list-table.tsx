import { Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { RowData } from '@tanstack/react-table'
import type { ReactNode } from 'react'
import type { List } from '../api/client.js'
import { DataTable, type DataTableProps } from './data-table.js'
import { Empty } from './empty.js'
import { Loaded } from './loaded.js'

export interface ListTableProps<T> extends Omit<DataTableProps<T>, 'rows'> {
  readonly query: UseQueryResult<List<T>>
  /** what is being loaded, for the words of a failure */
  readonly what: string
  /** what stands there while the list has nothing */
  readonly empty: {
    readonly title: string
    readonly icon: ReactNode
    readonly action: ReactNode
    readonly advice: ReactNode
  }
  /** says that there are more than are listed */
  readonly cut?: (listed: number, total: number) => string
}

/** A list of the service as a table, or what to do first where there is nothing yet. */
export function ListTable<T extends RowData>({ query, what, empty, cut, ...table }: ListTableProps<T>) {
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
