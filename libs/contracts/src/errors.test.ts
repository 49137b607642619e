import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { STATUS_OF_ERROR } from './errors.js'

const PAGE = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')

test('the page of errors lists every code once, in rows of one status, with what to do', () => {
  const rows = PAGE.split('\n')
    .filter((line) => /^\| \d{3} \|/.test(line))
    .map((line) => line.split(' | '))
  const documented = rows.flatMap(([status = '', codes = '']) =>
    Array.from(codes.matchAll(/`(\w+)`/g), ([, code]) => [code, Number(status.slice(2))]),
  )
  expect(documented.toSorted()).toEqual(Object.entries(STATUS_OF_ERROR).toSorted())
  expect(rows.filter(([, , when = '', act = '']) => when.length < 5 || act.length < 5)).toEqual([])
})
