import { expect, test } from 'vitest'
import { csvLine } from './csv.js'

test('values with commas, quotes and line breaks are one field of CSV, and zero is not empty', () => {
  expect(csvLine(['plain', 'a,b', 'say "yes"', 'two\nlines', 7])).toBe('plain,"a,b","say ""yes""","two\nlines",7\r\n')
  expect(csvLine([0, null, -1])).toBe('0,,-1\r\n')
})

test('no spreadsheet reads a text as a formula', () => {
  expect(csvLine(['=1+1', '+1', '-1', '@a', '\t=1', -1])).toBe("'=1+1,'+1,'-1,'@a,'\t=1,-1\r\n")
})
