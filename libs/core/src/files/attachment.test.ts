import { parse } from 'content-disposition'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attachment } from './attachment.js'

test.each([
  ['roads.geojson', 'attachment; filename="roads.geojson"'],
  ['my roads.geojson', 'attachment; filename="my roads.geojson"'],
  ['a"b;filename=c.geojson', String.raw`attachment; filename="a\"b;filename=c.geojson"`],
  [String.raw`a\"b;filename=c.geojson`, String.raw`attachment; filename="a\\\"b;filename=c.geojson"`],
  ['röads.zip', 'attachment; filename="roads-2.zip"; filename*=UTF-8\'\'r%C3%B6ads.zip'],
  [
    '江苏 道路.zip',
    'attachment; filename="roads-2.zip"; filename*=UTF-8\'\'%E6%B1%9F%E8%8B%8F%20%E9%81%93%E8%B7%AF.zip',
  ],
  ['道路', 'attachment; filename="roads-2"; filename*=UTF-8\'\'%E9%81%93%E8%B7%AF'],
  ['a\r\nSet-Cookie: b.zip', 'attachment; filename="roads-2.zip"; filename*=UTF-8\'\'a%0D%0ASet-Cookie%3A%20b.zip'],
])('%j is offered as %s', (fileName, value) => expect(attachment(fileName, 'roads-2')).toBe(value))

test('any name survives the header unchanged, and none breaks out of its line', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.string({
      unit: fc.constantFrom('"', '\\', ';', '=', '%', "'", ' ', '\r', '\n', '\0', 'a', 'ä', 'filename', '地'),
    }),
  )
  fc.assert(
    fc.property(name, (fileName) => {
      const value = attachment(fileName, 'roads')
      // The characters that a header may contain (RFC 9110, section 5.5).
      expect(value).toMatch(/^[\t -~\x80-\xff]*$/)
      expect(parse(value).parameters.filename).toBe(fileName)
    }),
  )
  expect(attachment('\ud800.zip', 'roads')).toBe('attachment; filename="roads.zip"; filename*=UTF-8\'\'%EF%BF%BD.zip')
})
