import { expect, test } from 'vitest'
import { acceptsGzip } from './accepts-gzip.js'

test.each([
  'gzip',
  'gzip, deflate, br',
  'br, gzip',
  'x-gzip',
  '*',
  'GZIP;q=0.5',
  'br;q=1.0, gzip;q=0.8, *;q=0.1',
  'identity, *',
])('%s accepts gzip', (header) => expect(acceptsGzip(header)).toBe(true))

test.each(['', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.000', '*;q=0', 'deflate, gzip;q=0, *', 'notgzip'])(
  '"%s" does not accept gzip',
  (header) => expect(acceptsGzip(header)).toBe(false),
)
