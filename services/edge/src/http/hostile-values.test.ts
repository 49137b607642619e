import { steepTexts } from '@gateway/contracts/testing/growth.js'
import { clientAddress, parseRanges } from '@gateway/core/access/client-address.js'
import { presentedToken } from '@gateway/core/access/presented-token.js'
import { attachment } from '@gateway/core/files/attachment.js'
import { parseTileAddress, parseTilePath } from '@gateway/tilesets/address.js'
import { expect, test } from 'vitest'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { parseByteRange } from '../files/byte-range.js'
import { isNotModified, isRangeStillGood } from '../files/conditional.js'
import { rebuildHead } from '../proxy/request-head.js'

const CURRENT = { etag: '"1-2-3"', modifiedMs: 0 }
const none = { authorization: '', xAccessToken: '', query: '' }
const raw = { method: 'POST', path: '/api/v1/slice/jobs', query: undefined, headers: [] }

const LOOKS: Record<string, (text: string) => unknown> = {
  range: (text) => parseByteRange(text, 1_000),
  'if-none-match': (text) => isNotModified(text, '', CURRENT),
  'if-modified-since': (text) => isNotModified('', text, CURRENT),
  'if-range': (text) => isRangeStillGood(text, CURRENT),
  'accept-encoding': acceptsGzip,
  authorization: (text) => presentedToken({ ...none, authorization: text }),
  'x-access-token': (text) => presentedToken({ ...none, xAccessToken: text }),
  query: (text) => presentedToken({ ...none, query: `token=${text}&access_token=${text}` }),
  'a whole query': (text) => presentedToken({ ...none, query: text }),
  'a tile address': (text) => parseTilePath(`/tiles/${text}`),
  'a tile number': (text) => parseTileAddress(text, text, text),
  'the name of a download': (text) => attachment(text, 'code'),
  'a header that is passed on': (text) =>
    rebuildHead({
      ...raw,
      headers: [
        ['user-agent', text],
        ['cookie', text],
      ],
    }),
  'a target that is passed on': (text) => rebuildHead({ ...raw, path: `/${text}`, query: text }),
  'x-forwarded-for': (text) => clientAddress('127.0.0.1', { 'x-forwarded-for': text }, parseRanges(['127.0.0.1'])),
}

test.each(Object.entries(LOOKS))(
  'the cost of examining %s grows at most linearly with the length of a text',
  (_, look) => {
    expect(steepTexts(look)).toEqual([])
  },
)

test('an examination in cubic time is found', () => {
  // Cubic, because on a busy machine a quadratic time may be too close to the limit for linear ones.
  // biome-ignore lint/complexity/useRegexLiterals: a literal would be found before, by the check of regular expressions
  const cubic = new RegExp('[a-z]*[a-z]*://')
  expect(steepTexts((text) => text.startsWith('aaa') && cubic.test(text), 120)).not.toEqual([])
})
