import { expect, test } from 'vitest'
import { wayBetween } from './way-between.js'

const archive = (version: string, from_version: string | null, bytes: number) => ({ version, from_version, bytes })
const ARCHIVES = [
  archive('v1', null, 1000),
  archive('v3', null, 1200),
  archive('v2', 'v1', 50),
  archive('v3', 'v2', 60),
  archive('v3', 'v1', 150),
]

test.each([
  ['the deltas of two steps, if they are smaller than one of both', 'v1', { bytes: 110, archives: 2 }],
  ['one delta', 'v2', { bytes: 60, archives: 1 }],
  ['the whole archive of the oldest version and the deltas behind it', null, { bytes: 1110, archives: 3 }],
  ['the same, of a version that no delta begins with', 'v0', { bytes: 1110, archives: 3 }],
  ['nothing, of the version itself', 'v3', { bytes: 0, archives: 0 }],
])('a device needs %s', (_, from, way) => {
  expect(wayBetween(ARCHIVES, from, 'v3')).toEqual(way)
})

test('a version without archives cannot be reached', () => {
  expect(wayBetween(ARCHIVES, 'v1', 'v4')).toBeNull()
})
