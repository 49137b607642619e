import { expect, test } from 'vitest'
import { condition, operatorsOf, withCondition } from './cql2.js'

const NAME = { name: 'Naïve name', type: 'string' } as const

test.each([
  [NAME, 'contains', "50%_o'clock", String.raw`CASEI("Naïve name") LIKE CASEI('%50\%\_o''clock%')`],
  [NAME, 'equal', '道路', `"Naïve name" = '道路'`],
  [{ name: 'n', type: 'number' }, 'atLeast', ' 1e3 ', '"n" >= 1000'],
  [{ name: 'open', type: 'boolean' }, 'equal', 'true', '"open" = TRUE'],
  [{ name: 'since', type: 'date' }, 'less', '2026-01-02', `"since" < DATE('2026-01-02')`],
  [{ name: 'at', type: 'datetime' }, 'more', '2026-01-02T03:04Z', `"at" > TIMESTAMP('2026-01-02T03:04:00.000Z')`],
  [{ name: 'list', type: 'other' }, 'present', '', '"list" IS NOT NULL'],
] as const)('%j %s %s becomes CQL2', (attribute, operator, value, expected) => {
  expect(operatorsOf(attribute.type)).toContain(operator)
  expect(condition(attribute, operator, value)).toBe(expected)
})

test('a value that is not of the type of its attribute makes no condition', () => {
  expect(condition({ name: 'n', type: 'number' }, 'equal', 'many')).toBeNull()
  expect(condition({ name: 'n', type: 'number' }, 'equal', '')).toBeNull()
  expect(condition({ name: 'd', type: 'date' }, 'equal', 'today')).toBeNull()
  expect(condition({ name: 'b', type: 'boolean' }, 'equal', '1')).toBeNull()
})

test('another condition narrows the filter, and alternatives stay together', () => {
  expect(withCondition('', 'a = 1')).toBe('a = 1')
  expect(withCondition('a = 1', 'b = 2')).toBe('a = 1 AND b = 2')
  expect(withCondition('a = 1 or c = 3', 'b = 2')).toBe('(a = 1 or c = 3) AND b = 2')
})
