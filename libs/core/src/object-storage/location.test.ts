import { expect, test } from 'vitest'
import { keyBelow, normalLocation, parseLocation, pathBelow } from './location.js'

test('a bucket with a prefix is used literally, without trailing slashes', () => {
  expect(parseLocation('s3://maps/all maps+ü%20/')).toEqual({ kind: 's3', bucket: 'maps', prefix: 'all maps+ü%20' })
  expect(normalLocation('S3://maps//')).toBe('s3://maps')
  expect(normalLocation('https://Host.example:443/a b/')).toBe('https://host.example/a%20b')
})

test.each([
  's3://',
  's3://a/b',
  's3://UPPER/x',
  's3://key:secret@maps/x',
  's3://maps/../other',
  's3://maps/a\nb',
  'https://user:secret@host/x',
  'https://user@host/x',
  'https://host/x?X-Amz-Signature=secret',
  'https://host/x#y',
  'ftp://host/x',
  'https://',
])('%j is refused, and does not appear in the message', (text) => {
  expect(parseLocation(text)).toEqual(expect.any(String))
  expect(parseLocation(text)).not.toContain('secret')
})

test('a key and the path below a location are inverse to each other', () => {
  expect(keyBelow('s3://maps/a', pathBelow('s3://maps/a', 'world/1.pmtiles'))).toBe('world/1.pmtiles')
  expect(keyBelow('s3://maps/a', 's3://maps/a')).toBe('')
  expect(keyBelow('s3://maps/a', 's3://maps/ab/c')).toBeNull()
})
