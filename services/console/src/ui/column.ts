import type { ReactNode } from 'react'

/** A column of a table. */
export interface Column<T> {
  readonly id: string
  readonly header: string
  /** what is sorted by and searched in */
  readonly value: (row: T) => string | number
  /** what is shown, where it is not the value itself */
  readonly cell?: (row: T) => ReactNode
  readonly numeric?: boolean
  /** the heading is for screen readers alone, and nothing is sorted by it: buttons */
  readonly actions?: boolean
}
