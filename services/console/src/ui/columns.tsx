import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Texts } from '../texts/en.js'
import type { Column } from './column.js'
import { TextLink } from './links.js'
import { Status } from './status.js'

interface Named {
  readonly name: string
  readonly code: string
  /** absent: it cannot be disabled */
  readonly enabled?: boolean
}

/** The name of something that has a code as well, as a link to its page. */
export function nameColumn<T extends Named>(t: Texts, addressOf: (code: string) => string): Column<T> {
  return {
    id: 'name',
    header: t.common.name,
    value: ({ name, code }) => `${name} ${code}`,
    cell: ({ name, code, enabled = true }) => (
      <>
        <TextLink to={addressOf(code)} fw={550}>
          {name}
        </TextLink>
        {!enabled && (
          <>
            {' '}
            <Status tone="off">{t.common.disabled}</Status>
          </>
        )}
        {name !== code && (
          <Text size="xs" c="dimmed">
            {code}
          </Text>
        )}
      </>
    ),
  }
}

/** Whether it was there when it was last looked for. */
export function availabilityColumn<T extends { readonly available: boolean }>(t: Texts): Column<T> {
  return {
    id: 'health',
    header: t.basemaps.health,
    value: ({ available }) => (available ? 0 : 1),
    cell: ({ available }) =>
      available ? (
        <Status tone="good">{t.common.available}</Status>
      ) : (
        <Status tone="bad">{t.common.unavailable}</Status>
      ),
  }
}

/** What can be done with a row. */
export function actionsColumn<T>(t: Texts, cell: (row: T) => ReactNode): Column<T> {
  return { id: 'actions', header: t.common.actions, value: () => '', actions: true, cell }
}
