import { TOLD_TEXTS } from '@gateway/contracts/told.js'
import { expect, test } from 'vitest'
import { toldIn } from './told-words.js'
import { zhServerWords } from './zh-server.js'
import { zhTold } from './zh-told.js'

test('sentences are made from codes and parameters, and what is said within them is translated too', () => {
  const zh = (...sentences: Parameters<typeof toldIn>[0]) => toldIn(sentences, zhTold, zhServerWords)
  const received = ['input.received', { value: '"maps"' }] as const
  expect(zh(['input.said', { field: 'body.path', sentence: 'must be an absolute path' }], received)).toBe(
    'body.path：必须是绝对路径；收到的是 "maps"',
  )
  expect(zh(['json.found', { line: 1, column: 2, found: '"a"', expected: 'a value' }])).toBe(
    '请求体不是有效的 JSON：第 1 行第 2 列是 "a"，此处应为一个值',
  )
  expect(zh(['of.a.newer.service', {}], received)).toBeNull()
})

test('each code has the same parameters in both languages', () => {
  const gaps = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort()
  expect(Object.keys(zhTold).sort()).toEqual(Object.keys(TOLD_TEXTS).sort())
  for (const [code, english] of Object.entries(TOLD_TEXTS)) {
    expect([code, gaps(zhTold[code as keyof typeof zhTold])]).toEqual([code, gaps(english)])
    expect(zhTold[code as keyof typeof zhTold]).toMatch(/[\p{Script=Han}：]/u)
  }
})
