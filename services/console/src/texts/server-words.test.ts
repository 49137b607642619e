import { expect, test } from 'vitest'
import { translated } from './server-words.js'
import { zhServerWords } from './zh-server.js'

const zh = (text: string) => translated(text, zhServerWords)

test('what the service says is told in Chinese, with the names and numbers in it', () => {
  expect(zh('no such basemap')).toBe('没有这个底图')
  expect(zh('this needs the role admin, and yours is viewer')).toBe('此操作需要角色 admin，您的角色是 viewer')
  expect(zh('the source "/a/b.tif" has no georeferencing: where its pixels lie is not known')).toBe(
    '影像 "/a/b.tif" 没有地理参考：无法得知像素的位置',
  )
  expect(zh('cancelled by anna at 2026-03-01T08:00:00.000Z')).toBe('由 anna 于 2026-03-01T08:00:00.000Z 取消')
})

test('a field that is refused keeps its name before the words, also beside others', () => {
  expect(zh('body.version: the version is withdrawn')).toBe('body.version: 该版本已撤下')
  expect(zh('body.source_paths: at least one image is required; body.zoom_max: must not be less than zoom_min')).toBe(
    'body.source_paths: 至少需要一张影像；body.zoom_max: 不能小于 zoom_min',
  )
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
