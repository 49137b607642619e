import { useRef, useState } from 'react'
import type { BulkChoice } from '../api/bulk.js'

interface Selected<T> {
  /** search and filters at the time of the selection */
  readonly of: string
  readonly rows: ReadonlyMap<string, T>
  /** all matching rows, including those on other pages */
  readonly all: boolean
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()

/** The selected rows of a list. Another search or filter clears it, since invisible rows must not be changed. */
export function useSelection<T>(
  rows: readonly T[],
  rowKey: (row: T) => string,
  filter: Readonly<Record<string, unknown>>,
  total: number,
) {
  const of = JSON.stringify(filter)
  const [state, setState] = useState<Selected<T>>({ of, rows: NOTHING, all: false })
  const { rows: chosen, all } = state.of === of ? state : { rows: NOTHING as ReadonlyMap<string, T>, all: false }
  const set = (rows: ReadonlyMap<string, T>, all = false) => setState({ of, rows, all })
  const keys = rows.map(rowKey)
  const last = useRef<string | null>(null)
  const isPage = rows.length > 0 && keys.every((key) => chosen.has(key))
  const choice: BulkChoice = all ? { filter } : { ids: [...chosen.keys()] }
  return {
    count: all ? total : chosen.size,
    all,
    choice,
    isSelected: (key: string) => all || chosen.has(key),
    isPage: all || isPage,
    isSome: all || chosen.size > 0,
    /** @param isRange selects all rows from the one that was selected last to this one */
    toggle: (row: T, isRange = false) => {
      const key = rowKey(row)
      const next = new Map(chosen)
      const [from, to] = [keys.indexOf(last.current ?? ''), keys.indexOf(key)]
      last.current = key
      if (isRange && from >= 0) {
        for (const one of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) next.set(rowKey(one), one)
      } else if (!next.delete(key)) next.set(key, row)
      set(next)
    },
    togglePage: () => {
      const next = new Map(chosen)
      for (const row of rows) {
        if (all || isPage) next.delete(rowKey(row))
        else next.set(rowKey(row), row)
      }
      set(next)
    },
    selectAll: () => set(chosen, true),
    clear: () => set(NOTHING),
    /** the visible row of a result, or undefined */
    rowOf: (key: string): T | undefined => chosen.get(key) ?? rows.find((row) => rowKey(row) === key),
  }
}

export type Selection<T> = ReturnType<typeof useSelection<T>>
