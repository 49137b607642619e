import { expect, test } from 'vitest'
import { csv } from './csv.js'

test('cells with commas, quotes and line breaks are quoted, and nothing is absent that is zero', () => {
  const rows = [
    { id: 'a,b', n: 0 },
    { id: 'say "so"', n: null },
    { id: 'two\nlines', n: 3 },
  ]
  expect(csv(['id', 'n'], rows)).toBe('id,n\r\n"a,b",0\r\n"say ""so""",\r\n"two\nlines",3\r\n')
})

test.each(['=1+1', '+1', '-1', '@x', '\tx'])('what a spreadsheet takes for a formula is a text: %j', (id) => {
  expect(csv(['id'], [{ id }])).toBe(`id\r\n'${id}\r\n`)
})

test('a negative number stays a number', () => {
  expect(csv(['n'], [{ n: -1 }])).toBe('n\r\n-1\r\n')
})
