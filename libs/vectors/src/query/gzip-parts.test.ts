import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { GZIP_HEAD, GzipParts, NO_TEXT, type TextSum } from './gzip-parts.js'
import type { Chunk } from './items-query.js'

const LONG = 'a map of the world '.repeat(10_000)

test('parts that different processes compress are one gzip member', () => {
  const texts = ['{"features":[', LONG, '', `,${LONG}`, ']}']
  const bytes: Uint8Array[] = [GZIP_HEAD]
  let sum: TextSum = NO_TEXT
  for (const text of texts) {
    const packer = new GzipParts(sum)
    bytes.push(packer.add(Buffer.from(text)))
    sum = packer.sum
  }
  const whole = Buffer.concat([...bytes, new GzipParts(sum).end()])
  expect(gunzipSync(whole).toString()).toBe(texts.join(''))
  expect(whole.length).toBeLessThan(LONG.length / 10)
  // A second member, which some clients ignore, would begin with these bytes.
  expect(whole.indexOf(Buffer.from([0x1f, 0x8b, 8]), 1)).toBe(-1)
})

test('a packed part keeps its features and tells the text up to its end', () => {
  const chunk: Chunk = { bytes: Buffer.from(LONG), count: 3, last: [3], state: 'going on' }
  const packed = new GzipParts({ crc: 7, length: 10 }).pack(chunk)
  expect(packed).toMatchObject({ count: 3, last: [3], state: 'going on', sum: { length: LONG.length + 10 } })
})

test('an empty text is an empty member', () => {
  expect(gunzipSync(Buffer.concat([GZIP_HEAD, new GzipParts(NO_TEXT).end()]))).toHaveLength(0)
})
