import { parse } from 'content-disposition'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attachment } from './attachment.js'
import { headerBlock } from './header-block.js'

test.each([
  ['roads.geojson', 'attachment; filename="roads.geojson"'],
  ['my roads.geojson', 'attachment; filename="my roads.geojson"'],
  ['a"b;filename=c.geojson', String.raw`attachment; filename="a\"b;filename=c.geojson"`],
  [String.raw`a\"b;filename=c.geojson`, String.raw`attachment; filename="a\\\"b;filename=c.geojson"`],
  ['röads.zip', 'attachment; filename="r?ads.zip"; filename*=UTF-8\'\'r%C3%B6ads.zip'],
  [
    'a\r\nSet-Cookie: b.zip',
    'attachment; filename="a??Set-Cookie: b.zip"; filename*=UTF-8\'\'a%0D%0ASet-Cookie%3A%20b.zip',
  ],
])('%j is offered as %s', (fileName, value) => expect(attachment(fileName)).toBe(value))

test('any name comes out of the header as it went in, and none breaks out of its line', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.string({
      unit: fc.constantFrom('"', '\\', ';', '=', '%', "'", ' ', '\r', '\n', '\0', 'a', 'ä', 'filename', '地'),
    }),
  )
  fc.assert(
    fc.property(name, (fileName) => {
      const value = attachment(fileName)
      expect(() => headerBlock(['Content-Disposition', value])).not.toThrow()
      expect(parse(value).parameters.filename).toBe(fileName)
    }),
  )
  expect(attachment('\ud800.zip')).toBe('attachment; filename="?.zip"; filename*=UTF-8\'\'%EF%BF%BD.zip')
})
