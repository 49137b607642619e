import { expect, test } from 'vitest'
import { archiveName } from './send.js'

test.each([
  ['world/v1', 'world', 'world-v1.zip'],
  ['lakes & rivers.shp', 'lakes-rivers', 'lakes-rivers.shp.zip'],
  ['主要 道路.shp', 'zhu-yao-dao-lu', 'zhu-yao-dao-lu.zip'],
])('the archive of %s is named after its place, or after its code if the place is not ASCII', (place, code, name) => {
  expect(archiveName({ place, code })).toBe(name)
})
