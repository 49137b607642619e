import { expect, test } from 'vitest'
import type { Column } from './columns.js'
import { filterRows, nextSorting, parseSorting, sortingText, sortRows } from './table-rows.js'

type Row = { readonly name: string; readonly size: number }
const columns: readonly Column<Row>[] = [
  { id: 'name', header: 'Name', value: ({ name }) => name },
  { id: 'size', header: 'Size', value: ({ size }) => size, numeric: true },
]
const rows: readonly Row[] = [
  { name: 'v10', size: 9 },
  { name: 'V2', size: 10 },
]
const names = (sorting: string) => sortRows(rows, columns, parseSorting(sorting)).map(({ name }) => name)

test('names are sorted as people count, numbers by their value, and an unknown column sorts nothing', () => {
  expect(names('name')).toEqual(['V2', 'v10'])
  expect(names('-name')).toEqual(['v10', 'V2'])
  expect(names('-size')).toEqual(['V2', 'v10'])
  expect(names('nothing')).toEqual(['v10', 'V2'])
})

test('a heading sorts, turns around and gives back the order of the list', () => {
  const presses = (id: string, numeric: boolean) => {
    let sorting = parseSorting(null)
    return Array.from({ length: 3 }, () => {
      sorting = nextSorting(sorting, { id, numeric })
      return sortingText(sorting)
    })
  }
  expect(presses('name', false)).toEqual(['name', '-name', null])
  expect(presses('size', true)).toEqual(['-size', 'size', null])
})

test('a search looks into every column without regard to case', () => {
  expect(filterRows(rows, columns, ' v2 ')).toEqual([rows[1]])
  expect(filterRows(rows, columns, '9')).toEqual([rows[0]])
  expect(filterRows(rows, columns, '')).toBe(rows)
})
