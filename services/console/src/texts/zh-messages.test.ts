import { fillTemplate, type MessageTemplate } from '@gateway/contracts/message-template.js'
import { MESSAGES, textOf } from '@gateway/contracts/messages.js'
import { expect, test } from 'vitest'
import { zhMessages } from './zh-messages.js'

const texts = (template: MessageTemplate) => (typeof template === 'string' ? [template] : [template.one, template.many])
const parameters = (text: string) => [...new Set(text.match(/\{@?\w+\}/g) ?? [])].sort()

/** Codes whose messages consist of symbols and foreign words, which are the same in every language. */
const SYMBOLS = new Set([
  'vector_conversion_said',
  'input.said',
  'import_not_usable',
  'request_unreadable',
  'query_fault',
  'query_at',
  'said.json_colon',
])

test('every coded message has the same parameters in both languages', () => {
  expect(Object.keys(zhMessages).sort()).toEqual(Object.keys(MESSAGES).sort())
  for (const [code, english] of Object.entries(MESSAGES)) {
    const chinese = texts(zhMessages[code as keyof typeof MESSAGES])
    expect([code, chinese.map(parameters)]).toEqual([code, texts(english).map(parameters)])
    if (SYMBOLS.has(code)) continue
    for (const text of chinese) expect([code, text]).toEqual([code, expect.stringMatching(/\p{Script=Han}/u)])
  }
})

test('a template is filled in the same way as by the service', () => {
  for (const [code, template] of Object.entries(MESSAGES)) {
    for (const count of [1, 2]) {
      const params = { count, file: '"a"', folder: '"{file}"', source: '$&', format: 'x' }
      expect(fillTemplate(template, params, MESSAGES)).toBe(textOf({ code: code as keyof typeof MESSAGES, params }))
    }
  }
})
