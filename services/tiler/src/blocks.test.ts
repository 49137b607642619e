import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { type BlockLayout, openBlocks } from './blocks.js'

const dir = mkdtempSync(join(tmpdir(), 'tiler-blocks-'))
afterAll(() => rmSync(dir, { recursive: true }))

const LAYOUT: BlockLayout = { width: 32, height: 16, blockSize: 16, samples: 4, sampleBytes: 1 }
const BLOCK_BYTES = 16 * 16 * 4

/** A BigTIFF of 2×1 blocks, the first missing, the second full of 7. */
function file(changes: Record<number, number[]> = {}): Buffer {
  const tags: Record<number, [type: 3 | 4 | 16, values: number[]]> = {
    256: [3, [32]],
    257: [3, [16]],
    258: [3, [8, 8, 8, 8]],
    259: [3, [1]],
    277: [3, [4]],
    284: [3, [1]],
    322: [3, [16]],
    323: [3, [16]],
    324: [16, [0, 1000]],
    325: [4, [0, BLOCK_BYTES]],
  }
  for (const [tag, values] of Object.entries(changes)) tags[Number(tag)]![1] = values
  const entries = Object.entries(tags)
  const buffer = Buffer.alloc(1000 + BLOCK_BYTES, 7)
  buffer.fill(0, 0, 1000)
  buffer.write('II')
  buffer.writeUInt16LE(43, 2)
  buffer.writeUInt16LE(8, 4)
  buffer.writeBigUInt64LE(16n, 8)
  buffer.writeBigUInt64LE(BigInt(entries.length), 16)
  let next = 600
  entries.forEach(([tag, [type, values]], index) => {
    const at = 24 + index * 20
    const size = { 3: 2, 4: 4, 16: 8 }[type]
    buffer.writeUInt16LE(Number(tag), at)
    buffer.writeUInt16LE(type, at + 2)
    buffer.writeBigUInt64LE(BigInt(values.length), at + 4)
    const inline = values.length * size <= 8
    const start = inline ? at + 12 : next
    if (!inline) {
      buffer.writeBigUInt64LE(BigInt(next), at + 12)
      next += values.length * size
    }
    values.forEach((value, place) => {
      if (size === 8) buffer.writeBigUInt64LE(BigInt(value), start + place * 8)
      else buffer.writeUIntLE(value, start + place * size, size)
    })
  })
  return buffer
}

function open(content: Buffer) {
  const path = join(dir, 'blocks.tif')
  writeFileSync(path, content)
  return openBlocks(path, LAYOUT)
}

it('blocks are read in place, and missing ones are null', () => {
  const blocks = open(file())
  expect(blocks.read(0, 0)).toBeNull()
  expect(blocks.read(1, 0)!.equals(Buffer.alloc(BLOCK_BYTES, 7))).toBe(true)
  expect(() => blocks.read(2, 0)).toThrow(RangeError)
  blocks.close()
})

it.each([
  ['another width', { 256: [64] }],
  ['another block size', { 322: [32] }],
  ['fewer bands', { 277: [3] }],
  ['wider samples', { 258: [16, 16, 16, 16] }],
  ['compression', { 259: [8] }],
  ['separate bands', { 284: [2] }],
  ['too few blocks', { 324: [1000] }],
])('%s is not what was asked for', (_, changes) => {
  expect(() => open(file(changes))).toThrow('not laid out as it was asked for')
})

it.each([
  ['a block of another size', { 325: [0, BLOCK_BYTES - 1] }, 'wrong size'],
  ['a block beyond the end', { 324: [0, 100_000] }, 'cut short'],
])('%s is an error when it is read', (_, changes, message) => {
  const blocks = open(file(changes))
  expect(() => blocks.read(1, 0)).toThrow(message)
  blocks.close()
})

it('a file truncated anywhere, or with any byte changed, never gives a block of a wrong size', () => {
  const whole = file()
  fc.assert(
    fc.property(fc.nat(whole.length), fc.nat(999), fc.nat(255), (length, at, value) => {
      const broken = Buffer.from(whole.subarray(0, length))
      if (at < broken.length) broken[at] = value
      let blocks: ReturnType<typeof open> | undefined
      try {
        blocks = open(broken)
        expect([undefined, BLOCK_BYTES]).toContain(blocks.read(1, 0)?.length)
      } catch (error) {
        expect(String(error)).toMatch(/scratch file/)
      } finally {
        blocks?.close()
      }
    }),
  )
})
