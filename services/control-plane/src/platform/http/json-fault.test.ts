import { textOfAll } from '@gateway/contracts/messages.js'
import { expect, test } from 'vitest'
import { jsonFault } from './json-fault.js'

const START = 'the body is not valid JSON: '
const reason = (body: string | Buffer) => textOfAll(jsonFault(Buffer.from(body)))

test.each([
  ['{"a":tru}', 'line 1, column 6: found "tru", where a value should be'],
  [
    '{"a":1,}',
    'line 1, column 8: found "}", where a name in double quotes should be; no comma may stand before a closing bracket',
  ],
  ['[1,]', 'line 1, column 4: found "]", where a value should be; no comma may stand before a closing bracket'],
  ['{a:1}', 'line 1, column 2: found "a", where a name in double quotes should be; names take double quotes'],
  [
    "{'a':1}",
    'line 1, column 2: found "\'", where a name in double quotes should be; texts and names take double quotes',
  ],
  ['{"a" 1}', 'line 1, column 6: found "1", where ":" should be'],
  ['{"a":1\n "b":2}', 'line 2, column 2: found "\\"", where "," or a closing bracket should be'],
  ['{"图":1,\n "b":无}', 'line 2, column 6: found "无", where a value should be'],
  ['{"a":1', 'it ends at line 1, column 7, where "," or a closing bracket should be'],
  ['{"a":', 'it ends at line 1, column 6, where a value should be'],
  [
    '{"a":01}',
    'found "1", where "," or a closing bracket should be; a number has no leading zero, plus sign or leading point',
  ],
  ['{"a":.5}', 'found ".", where a value should be; a number has no leading zero, plus sign or leading point'],
  ['{"a":1e}', 'found "}", where a digit should be'],
  ['{"a":NaN}', 'found "NaN", where a value should be; the only words in JSON are true, false and null'],
  ['{"a":None}', 'found "None", where a value should be; the only words in JSON are true, false and null'],
  ['name=x&b=2', 'found "name", where a value should be; this is the body of an HTML form: send JSON'],
  ['{"a":1}{"b":2}', 'line 1, column 8: found "{", where the end should be'],
  ['{"a":"\\x"}', 'found "x", where an escape of JSON should be'],
  [
    '{"a":"b\nc"}',
    'found "\\n", where another character should be; a line break or tab in a text is written as \\n or \\t',
  ],
  ['/*c*/{}', 'found "/", where a value should be; JSON has no comments'],
  ['   ', 'it ends at line 1, column 4, where a value should be'],
  ['['.repeat(500_000), 'it ends at line 1, column 500001, where a value should be'],
])('the reason why %.20s is not JSON names the position and the text found there', (body, expected) => {
  expect(reason(body).slice(START.length)).toContain(expected)
  // JSON.parse refuses the same text.
  expect(() => JSON.parse(body)).toThrow(SyntaxError)
})

test('the first byte that is not UTF-8 is named, and the replacement character itself is valid', () => {
  expect(reason(Buffer.from([0x7b, 0x22, 0xef, 0xbf, 0xbd, 0xff, 0x22]))).toBe(`${START}it is not UTF-8 from byte 5 on`)
})

test('a forbidden name in valid JSON is named', () => {
  expect(reason('{"__proto__":{}}')).toContain('__proto__')
})
