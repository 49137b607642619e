import { storedVersion } from '@gateway/store/testing/stored-rows.js'
import { expect, test } from 'vitest'
import type { CatalogVersion } from '../sync/catalog.js'
import type { UsageName } from '../usage/usage-counts.js'
import { outsideZooms } from './missing-reasons.js'

const versionOf = (usage: UsageName): CatalogVersion => ({
  stored: storedVersion('1'),
  root: '/maps',
  contentId: 1,
  tags: [],
  tagLines: '',
  usage,
})

test.each([
  ['basemap:world', 'version "1"'],
  ['vector:roads', 'this vector'],
] as const)('a missing tile of %s names %s', (usage, title) => {
  expect(outsideZooms(versionOf(usage)).message).toBe(`there is no such tile: ${title} has zooms 0 to 4`)
})
