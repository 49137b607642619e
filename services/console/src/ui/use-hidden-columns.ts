import { useLocalStorage } from '@mantine/hooks'
import type { ListSource } from '../api/list.js'
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
