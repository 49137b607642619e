import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { segment } from '../api/client.js'
import type { Texts } from '../texts/en.js'
import { Name, NameLink } from './name.js'
import { Status } from './status.js'
import { Ago, Moment } from './time.js'
import { WithdrawnMark } from './withdrawn.js'

/** A column of a table. */
export interface Column<T> {
  readonly id: string
  readonly header: string
  /** value to sort and search by */
  readonly value: (row: T) => string | number
  /** content of the cell, if it is not the value itself */
  readonly cell?: (row: T) => ReactNode
  readonly numeric?: boolean
  /** percentage of the table's width, for a long text: it has two lines at most, and gives way to the other columns */
  readonly share?: number
  /** field by which the service sorts its list; absent: the service cannot sort by this column */
  readonly sort?: string
  /** true for a column of buttons: only screen readers get its heading, and it cannot be sorted */
  readonly actions?: boolean
}

interface Named {
  readonly name: string
  readonly code: string
  /** absent: the object cannot be disabled */
  readonly enabled?: boolean
  /** absent: the object cannot be withdrawn */
  readonly withdrawn?: boolean
  readonly source_enabled?: boolean
}

/** The name of an object that also has a code, as a link to its page. */
export function nameColumn<T extends Named>(t: Texts, addressOf: (code: string) => string): Column<T> {
  return {
    id: 'name',
    header: t.common.name,
    sort: 'name',
    value: ({ name, code }) => `${name} ${code}`,
    cell: ({ name, code, enabled = true, withdrawn = false, source_enabled = true }) => (
      <div className="in-row">
        <NameLink to={addressOf(code)} fw={550} name={name} />
        {name !== code && (
          <Text size="xs" c="dimmed" span className="code">
            <Name>{code}</Name>
          </Text>
        )}
        {!enabled && <Status tone="off">{t.common.disabled}</Status>}
        <WithdrawnMark of={{ withdrawn, source_enabled }} />
      </div>
    ),
  }
}

/** The availability at the last check. */
export function availabilityColumn<T extends { readonly available: boolean }>(t: Texts): Column<T> {
  return {
    id: 'health',
    header: t.basemaps.health,
    value: ({ available }) => (available ? 0 : 1),
    cell: ({ available }) => <Availability available={available} t={t} />,
  }
}

export function Availability({ available, t: { common } }: { available: boolean; t: Texts }) {
  return <Status tone={available ? 'good' : 'bad'}>{available ? common.available : common.unavailable}</Status>
}

export function sourceColumn<T extends { readonly source_code: string }>(t: Texts): Column<T> {
  return {
    id: 'source',
    header: t.common.source,
    sort: 'source_code',
    value: (row) => row.source_code,
    cell: (row) => <SourceLink code={row.source_code} />,
  }
}

export function SourceLink({ code }: { code: string }) {
  return <NameLink to={`/sources/${segment(code)}`} name={code} />
}

/** The time since an event. A row with a word instead of a time sorts as the latest. */
export function agoColumn<T>(
  id: string,
  header: string,
  at: (row: T) => string | null,
  { fallback, sort }: { readonly fallback?: string; readonly sort?: string } = {},
): Column<T> {
  return {
    id,
    header,
    ...(sort !== undefined && { sort }),
    value: (row) => at(row) ?? (fallback === undefined ? '' : '9999'),
    cell: (row) => <Ago at={at(row)} {...(fallback !== undefined && { fallback })} />,
  }
}

/** The exact time. */
export function momentColumn<T>(id: string, header: string, at: (row: T) => string): Column<T> {
  return { id, header, value: at, cell: (row) => <Moment at={at(row)} /> }
}

/** Paths and URLs. */
export function monoColumn<T>(id: string, header: string, value: (row: T) => string): Column<T> {
  return { id, header, value, cell: (row) => <bdi className="mono">{value(row)}</bdi> }
}

/** Buttons for a row. */
export function actionsColumn<T>(t: Texts, cell: (row: T) => ReactNode): Column<T> {
  return { id: 'actions', header: t.common.actions, value: () => '', actions: true, cell }
}
