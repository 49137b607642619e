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

test('names are sorted in natural order, numbers by value, and an unknown column sorts nothing', () => {
  expect(names('name')).toEqual(['V2', 'v10'])
  expect(names('-name')).toEqual(['v10', 'V2'])
  expect(names('-size')).toEqual(['V2', 'v10'])
  expect(names('nothing')).toEqual(['v10', 'V2'])
})

test('clicks on a heading sort, reverse the order, and restore the original order', () => {
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

test('a search covers every column and ignores case', () => {
  expect(filterRows(rows, columns, ' v2 ')).toEqual([rows[1]])
  expect(filterRows(rows, columns, '9')).toEqual([rows[0]])
  expect(filterRows(rows, columns, '')).toBe(rows)
})
