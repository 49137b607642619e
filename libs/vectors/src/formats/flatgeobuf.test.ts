import { symlinkSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { flatgeobufFacts } from './flatgeobuf.js'
import { HEADER_AT, POINTS_FGB } from './testing/flatgeobufs.js'
import { makeTree, type Tree } from './testing/trees.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

function facts(content: string | Buffer) {
  tree.put('x.fgb', content)
  return flatgeobufFacts(tree.root, tree.at('x.fgb'))
}

const headerLength = POINTS_FGB.readUInt32LE(HEADER_AT - 4)

/** Returns the file with other bytes from a position on. */
function changed(at: number, bytes: Buffer | readonly number[]): Buffer {
  const copy = Buffer.from(POINTS_FGB)
  Buffer.from(bytes).copy(copy, at)
  return copy
}

test('the header of a file from GDAL contains all facts', () => {
  const found = facts(POINTS_FGB)
  expect(found).toMatchObject({
    crs: 'EPSG:32633',
    geometry_type: 'Point',
    feature_count: 3,
    fields: [
      { name: 'name', type: 'string' },
      { name: 'lanes', type: 'number' },
      { name: 'width', type: 'number' },
      { name: 'paved', type: 'boolean' },
      { name: 'built', type: 'date' },
      { name: 'tags', type: 'string' },
    ],
    encoding: 'UTF-8',
    encoding_source: 'format',
  })
  expect(found?.bounds?.map((value) => Math.round(value * 100) / 100)).toEqual([13.98, 50, 16, 51])
})

test('another patch version is read, another format and another version are not', () => {
  expect(facts(changed(7, [1]))?.feature_count).toBe(3)
  expect(() => facts(changed(3, [2]))).toThrow('it is not FlatGeobuf')
  expect(() => facts('{"type":"Point","coordinates":[1,2]}')).toThrow('it is not FlatGeobuf')
})

describe('a truncated file is refused', () => {
  test.each([
    ['in the magic', 5],
    ['before the header', 10],
    ['in the header', HEADER_AT + 100],
    ['in the index', HEADER_AT + headerLength + 60],
    ['in the last feature', POINTS_FGB.length - 1],
  ])('%s', (_, length) => {
    expect(() => facts(POINTS_FGB.subarray(0, length))).toThrow('it is cut off, or still being written')
  })
})

describe('a header of absurd size', () => {
  test('beyond the end of the file means a truncated file', () => {
    expect(() => facts(changed(8, [0xff, 0xff, 0xff, 0xff]))).toThrow('cut off')
  })

  test('within the file is not read: only the encoding is known', () => {
    const length = 2 * 1024 * 1024
    const large = Buffer.concat([POINTS_FGB.subarray(0, 12), Buffer.alloc(length)])
    large.writeUInt32LE(length, 8)
    expect(facts(large)).toMatchObject({ crs: null, fields: null, feature_count: null, encoding: 'UTF-8' })
  })
})

test('offsets that lead out of the header are refused', () => {
  expect(() => facts(changed(HEADER_AT, [0xff, 0xff, 0xff, 0x7f]))).toThrow('its header is broken')
})

test('a missing file, or a link out of the source, counts as missing', () => {
  const outside = makeTree()
  outside.put('secret.fgb', POINTS_FGB)
  symlinkSync(outside.at('secret.fgb'), tree.at('link.fgb'))
  const read = (name: string) => flatgeobufFacts(tree.root, tree.at(name))
  expect([read('nowhere.fgb'), read('link.fgb')]).toEqual([null, null])
  outside.remove()
})

test('damaged bytes cause a refusal or facts that JSON can represent, never another error', () => {
  const damage = fc.array(fc.tuple(fc.nat(HEADER_AT + headerLength + 200), fc.nat(255)), {
    minLength: 1,
    maxLength: 12,
  })
  fc.assert(
    fc.property(damage, (bytes) => {
      const damaged = Buffer.from(POINTS_FGB)
      for (const [at, value] of bytes) damaged[at] = value
      try {
        const { feature_count: count, fields } = facts(damaged) ?? {}
        expect(count === null || Number.isSafeInteger(count)).toBe(true)
        expect(fields?.length ?? 0).toBeLessThanOrEqual(256)
      } catch (error) {
        expect((error as Error).name).toBe('BrokenArchiveError')
      }
    }),
  )
})
