import type { RowData } from '@tanstack/react-table'
import type { ReactNode } from 'react'
import { ListTable, type ListTableProps } from './list-table.js'
import { Page } from './page.js'
import { Section } from './section.js'

interface ListPageProps<T> extends Pick<ListTableProps<T>, 'query' | 'columns' | 'rowKey' | 'cut'> {
  readonly texts: Readonly<Record<'title' | 'lead' | 'what' | 'empty' | 'emptyAdvice' | 'search', string>>
  readonly icon: ReactNode
  /** beside the heading */
  readonly actions?: ReactNode
  /** what to do first where there is nothing yet */
  readonly first: ReactNode
  readonly children?: ReactNode
}

/** A page that is one list. */
export function ListPage<T extends RowData>({ texts, icon, actions, first, children, ...list }: ListPageProps<T>) {
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
