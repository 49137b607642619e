import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { gzipPieces, gzipText } from './gzip-text.js'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const LONG = 'a map of the world '.repeat(1_000)

test('a text is compressed if it is longer than a packet', async () => {
  const packed = (await gzipText(bytes(LONG))) as Uint8Array
  expect(packed.length).toBeLessThan(LONG.length / 10)
  expect(gunzipSync(packed).toString()).toBe(LONG)
  expect(await gzipText(bytes('short'))).toBeNull()
})

test('pieces are sent before the next one is made, and together are the text', async () => {
  const made: number[] = []
  async function* pieces() {
    for (let i = 0; i < 3; i++) {
      made.push(i)
      yield bytes(`${i}${LONG}`)
    }
  }
  const packed = gzipPieces(pieces())
  const parts = [(await packed.next()).value as Uint8Array]
  for await (const part of packed) parts.push(part)
  expect(made).toEqual([0, 1, 2])
  expect(gunzipSync(Buffer.concat(parts)).toString()).toBe([0, 1, 2].map((i) => `${i}${LONG}`).join(''))
})

test('a piece that cannot be made rejects, after those before it', async () => {
  async function* pieces() {
    yield bytes(LONG)
    throw new Error('the query has failed')
  }
  const read = async () => {
    for await (const part of gzipPieces(pieces())) expect(part.length).toBeGreaterThan(0)
  }
  await expect(read()).rejects.toThrow('the query has failed')
})

test('the making of pieces ends if the reader leaves', async () => {
  let ended = false
  async function* pieces() {
    try {
      for (;;) yield bytes(LONG)
    } finally {
      ended = true
    }
  }
  for await (const part of gzipPieces(pieces())) {
    expect(part.length).toBeGreaterThan(0)
    break
  }
  expect(ended).toBe(true)
})
