import { expect, test } from 'vitest'
import { isStoreDown } from './store-down.js'

const error = (facts: object) => Object.assign(new Error('x'), facts)

test.each([
  'ECONNREFUSED',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  '57P01',
  '57P03',
  '53300',
  '08006',
  '57014',
  '25006',
])('%s means that the store is out of reach for now', (code) => {
  expect(isStoreDown(error({ code }))).toBe(true)
})

test.each(['23505', '42P01', '22021', '28P01', 'EACCES', 'FST_ERR_VALIDATION'])('%s does not', (code) => {
  expect(isStoreDown(error({ code }))).toBe(false)
})

test('a file that is missing is no missing store, a missing socket is', () => {
  expect(isStoreDown(error({ code: 'ENOENT', syscall: 'open', path: '/data/x' }))).toBe(false)
  expect(isStoreDown(error({ code: 'ENOENT', syscall: 'connect', path: '/run/.s.PGSQL.5432' }))).toBe(true)
})

test('an attempt on several addresses is judged by all of them', () => {
  const refused = error({ code: 'ECONNREFUSED' })
  expect(isStoreDown(new AggregateError([refused, error({ code: 'ETIMEDOUT' })]))).toBe(true)
  expect(isStoreDown(new AggregateError([refused, new Error('else')]))).toBe(false)
})

test.each([null, undefined, 'text', new Error('plain')])('%s is no such error', (value) => {
  expect(isStoreDown(value)).toBe(false)
})
