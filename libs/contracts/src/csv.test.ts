import { expect, test } from 'vitest'
import { csvField } from './csv.js'

test.each(['=HYPERLINK("x")', '@SUM(A1)', '+1', '-1', '\t=1', '\r=1'])(
  '%j is data, and guarded if that is asked for',
  (text) => {
    const quoted = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)
    expect(csvField(text, false)).toBe(quoted(text))
    expect(csvField(text, true)).toBe(quoted(`'${text}`))
  },
)

test.each(['a=1', 'x', '', '1'])('%j is the same in both forms', (text) => {
  expect(csvField(text, true)).toBe(csvField(text, false))
})
