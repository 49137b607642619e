import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { expect, test } from 'vitest'
import type { UsageName } from '../sync/catalog.js'
import { type CatalogVersion, EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { absentVersion, outsideZooms } from './missing-reasons.js'

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
  ['vector:roads', 'this vector or style'],
  ['basemap:', 'this vector or style'],
] as const)('a missing tile of %s names %s', (usage, title) => {
  expect(outsideZooms(versionOf(usage)).message).toBe(`there is no such tile: ${title} has zooms 0 to 4`)
})

test.each([null, 'current'])('if the default version is not available, a request for %s is told its label', (label) => {
  const versions = [storedVersion('1'), storedVersion('2', { available: false })]
  const rows = [storedBasemap('world', versions, { defaultVersion: '2' })]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
  const basemap = catalog.basemaps.get('world')
  expect(absentVersion('world', label, basemap, true)).toMatchObject({ params: { version: '"2"', versions: '"1"' } })
  expect(absentVersion('world', label, basemap, false)).toMatchObject({ params: { version: '"current"' } })
})
