import { expect, test } from 'vitest'
import { saysAborted, storeTrouble } from './transient-errors.js'

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
  '53100',
  '25006',
  'ANSWER_TIMEOUT',
])('%s is a transient error of the store', (code) => {
  expect(storeTrouble(error({ code }))).toMatchObject({ passes: true })
})

test.each(['28P01', '28000', '3D000'])('%s must be fixed by an operator', (code) => {
  expect(storeTrouble(error({ code }))).toMatchObject({ passes: false })
})

test.each(['23505', '42P01', '22021', 'EACCES', 'FST_ERR_VALIDATION'])('%s is not transient', (code) => {
  expect(storeTrouble(error({ code }))).toBeNull()
})

test('each kind has its own message', () => {
  const words = [
    'ECONNREFUSED',
    'ANSWER_TIMEOUT',
    '57P03',
    '53100',
    '53300',
    '53200',
    '58030',
    '25006',
    '40P01',
    '28P01',
    '3D000',
  ]
  expect(new Set(words.map((code) => storeTrouble(error({ code }))?.said.code)).size).toBe(words.length)
})

test('a full disk and a replica still allow reading', () => {
  expect(storeTrouble(error({ code: '53100' }))?.writesOnly).toBe(true)
  expect(storeTrouble(error({ code: '25006' }))?.writesOnly).toBe(true)
  expect(storeTrouble(error({ code: '57P03' }))?.writesOnly).toBeUndefined()
})

test('an error of the server in response to a commit means that it was aborted, a lost connection does not', () => {
  for (const code of ['23505', '40001', '53100']) expect(saysAborted(error({ code }))).toBe(true)
  for (const code of ['CONNECTION_CLOSED', 'ANSWER_TIMEOUT', 'EPIPE', '57P01', '08006']) {
    expect(saysAborted(error({ code }))).toBe(false)
  }
  expect(saysAborted(null)).toBe(false)
})

test('a missing file does not mean a missing store, a missing socket does', () => {
  expect(storeTrouble(error({ code: 'ENOENT', syscall: 'open', path: '/data/x' }))).toBeNull()
  expect(storeTrouble(error({ code: 'ENOENT', syscall: 'connect', path: '/run/.s.PGSQL.5432' }))).not.toBeNull()
})

test('an attempt on several addresses is judged by all of them', () => {
  const refused = error({ code: 'ECONNREFUSED' })
  expect(storeTrouble(new AggregateError([refused, error({ code: 'ETIMEDOUT' })]))).not.toBeNull()
  expect(storeTrouble(new AggregateError([refused, new Error('else')]))).toBeNull()
})

test.each([null, undefined, 'text', new Error('plain')])('%s is not such an error', (value) => {
  expect(storeTrouble(value)).toBeNull()
})
