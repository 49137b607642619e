import { expect, test } from 'vitest'
import { coded } from './messages.js'
import { cleanJson, cleanText } from './storable-text.js'

test('NUL is removed, half a surrogate pair becomes the replacement character, all else stays', () => {
  expect(cleanText('a\0b \ud800 é 世 😀')).toBe('ab \ufffd é 世 😀')
})

test('texts and keys are cleaned at any depth of a JSON value', () => {
  expect(cleanJson([{ 'k\0': ['v\0', 1, null, true, { x: '\0' }] }])).toEqual([{ k: ['v', 1, null, true, { x: '' }] }])
})

test('a message about foreign content can be stored', () => {
  expect(coded('system_error', { words: 'Unexpected token \0 in \ud800' }).params).toEqual({
    words: 'Unexpected token  in \ufffd',
  })
})
