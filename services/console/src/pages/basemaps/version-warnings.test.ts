import { expect, test } from 'vitest'
import { isAbout } from './version-warnings.js'

test.each([
  ['"world/v1"', true],
  ['"world/v1/8"', true],
  ['"world/v10"', false],
  ['"world"', false],
])('a warning about %s belongs to the version world/v1: %s', (folder, expected) => {
  expect(isAbout({ message_params: { folder } }, '/maps/world/v1', '/maps')).toBe(expected)
  expect(isAbout({ message_params: { file: folder } }, 's3://b/world/v1', 's3://b/')).toBe(expected)
})

test('a warning without a path belongs to no version', () => {
  expect(isAbout({ message_params: null }, '/maps/world/v1', '/maps')).toBe(false)
  expect(isAbout({ message_params: { folder: '"world/v1"' } }, '/elsewhere/world/v1', '/maps')).toBe(false)
})
