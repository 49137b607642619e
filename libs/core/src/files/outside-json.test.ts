import { expect, test } from 'vitest'
import { MAX_LEVELS, parseOutsideJson } from './outside-json.js'

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

test('JSON is parsed up to the limit of levels, and a deeper text is refused before it is parsed', () => {
  expect(parseOutsideJson('{"a": ["[[[", "\\"]", 1]}')).toEqual({ a: ['[[[', '"]', 1] })
  expect(JSON.stringify(parseOutsideJson(nested(MAX_LEVELS)))).toBe(nested(MAX_LEVELS))
  expect(() => parseOutsideJson(nested(MAX_LEVELS + 1))).toThrow(SyntaxError)
  // A text that is not complete, so that the parser itself would name another fault.
  expect(() => parseOutsideJson('['.repeat(100_000))).toThrow('more than 200 levels')
  expect(parseOutsideJson(`"${'['.repeat(1_000)}"`)).toHaveLength(1_000)
})
