import { expect, test } from 'vitest'
import { guessEncoding } from './guess-encoding.js'

/** "道路,北京市海淀区" in GBK. */
const GBK = Buffer.from('b5c0c2b72cb1b1beb9cad0baa3b5edc7f8', 'hex')

test.each([
  ['plain letters', Buffer.from('a road'), 'ASCII'],
  ['UTF-8', Buffer.from('道路 Straße'), 'UTF-8'],
  ['UTF-8 whose last character is cut', Buffer.from('道路').subarray(0, 5), 'UTF-8'],
  ['GBK', GBK, 'GBK'],
  ['GBK whose last character is cut', GBK.subarray(0, GBK.length - 1), 'GBK'],
  ['UTF-16', Buffer.from('\uFEFF道路', 'utf16le'), 'UTF-16LE'],
  ['Latin letters of Windows-1252', Buffer.from('Stra\xdfe, Caf\xe9, M\xfcnchen', 'latin1'), null],
  ['Cyrillic letters of Windows-1251', Buffer.from('cceef1eae2e02c20efeeeceef9fc', 'hex'), null],
  ['Shift_JIS', Buffer.from('8374834188a493bf', 'hex'), null],
])('%s', (_, bytes, encoding) => {
  expect(guessEncoding(bytes)).toBe(encoding)
})
