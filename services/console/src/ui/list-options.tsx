import { ActionIcon } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconAdjustments } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { ListSource } from '../api/list.js'
import { useTexts } from '../texts/texts.js'
import type { Column } from './columns.js'
import { useParameter } from './use-parameter.js'

/** The hidden columns, from the URL or from the browser's storage. The first column and the buttons are always visible. */
export function useHiddenColumns<T>(list: string, columns: readonly Column<T>[]) {
  const [asked, setAsked] = useParameter('hidden')
  const [kept, keep] = useLocalStorage<string>({
    key: `list.${list}.hidden`,
    defaultValue: '',
    getInitialValueInEffect: false,
  })
  const hidden = new Set((asked ?? kept).split(',').filter((id) => id !== '' && id !== NONE))
  const optional = columns.filter(({ actions }, i) => i > 0 && !actions)
  return {
    optional,
    isHidden: (id: string) => hidden.has(id),
    shown: columns.filter((column) => !optional.includes(column) || !hidden.has(column.id)),
    toggle: (id: string) => {
      const next = new Set(hidden)
      if (!next.delete(id)) next.add(id)
      const text = [...next].join(',')
      keep(text)
      setAsked(text === '' ? NONE : text)
    },
  }
}

/** Value in the URL that shows every column and overrides the browser's storage. */
const NONE = '-'

export interface ListOptionsProps<T> {
  readonly source: ListSource<T, never>
  /** current search, filters and sorting */
  readonly query: Readonly<Record<string, unknown>>
  readonly columns: ReturnType<typeof useHiddenColumns<T>>
}

/** Not in the first file: fields and what places them. */
const OpenListOptions = lazy(() => import('./list-options-panel.js'))

/** What can be done with a list as a whole: a file of it, its columns, and views by name. */
export function ListOptions<T>(props: ListOptionsProps<T>) {
  const [asked, setAsked] = useState(false)
  const button = <OptionsButton onClick={() => setAsked(true)} />
  if (!asked) return button
  return (
    <Suspense fallback={button}>
      <OpenListOptions {...(props as unknown as ListOptionsProps<unknown>)} />
    </Suspense>
  )
}

export function OptionsButton(props: { readonly onClick: () => void }) {
  const t = useTexts().work.list
  return (
    <ActionIcon
      variant="default"
      size={36}
      aria-label={t.options}
      title={t.options}
      className="list-options"
      {...props}
    >
      <IconAdjustments size={18} stroke={1.6} aria-hidden />
    </ActionIcon>
  )
}
