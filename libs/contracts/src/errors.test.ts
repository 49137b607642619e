import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { STATUS_OF_ERROR } from './errors.js'

test('the page of errors names every code with its status, and no other', () => {
  const page = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')
  const rows = page.split('\n').flatMap((line) => {
    const [, status = '', codes = ''] = line.split('|')
    return Number(status) > 0 ? [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => [code, Number(status)]) : []
  })
  expect(rows.toSorted()).toEqual(Object.entries(STATUS_OF_ERROR).toSorted())
})
