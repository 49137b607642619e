import { expect, test } from 'vitest'
import { csvOf } from './csv.js'

test('a file has one column for each field, and quotes values only if necessary', () => {
  const rows = [
    { name: 'a "b", c', codes: ['x', 'y'], last: null },
    { name: 'plain', codes: [], at: { z: 1 } },
  ]
  expect(csvOf(rows)).toBe('name,codes,last,at\r\n"a ""b"", c",x y,,\r\nplain,,,"{""z"":1}"\r\n')
})

test('a text that a spreadsheet would read as a formula is marked as text, unlike a negative number', () => {
  expect(csvOf([{ a: '=1+1', b: '@x', c: -3 }])).toBe("a,b,c\r\n'=1+1,'@x,-3\r\n")
})
