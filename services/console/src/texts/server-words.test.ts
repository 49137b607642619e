import { expect, test } from 'vitest'
import { translated } from './server-words.js'
import { zhServerWords } from './zh-server.js'

const zh = (text: string) => translated(text, zhServerWords)

test('what the service says is told in Chinese, with the names and numbers in it', () => {
  expect(zh('cancelled by anna at 2026-03-01T08:00:00.000Z')).toBe('由 anna 于 2026-03-01T08:00:00.000Z 取消')
})

test('what is not known stays as it is', () => {
  expect(zh('ENOENT: something of the disk')).toBe('ENOENT: something of the disk')
  expect(zh('')).toBe('')
})

test('each sentence has as many parts in both languages', () => {
  const parts = (text: string) => text.split('{}').length
  for (const [english, chinese] of Object.entries(zhServerWords)) {
    expect([english, parts(chinese)]).toEqual([english, parts(english)])
    expect([english, chinese]).toEqual([english, expect.stringMatching(/\p{Script=Han}/u)])
    // No other sentence takes it first.
    const example = english.replaceAll('{}', '7')
    expect([english, zh(example)]).toEqual([english, chinese.replaceAll('{}', '7')])
  }
})
