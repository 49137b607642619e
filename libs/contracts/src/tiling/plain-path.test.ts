import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isPlainPath } from './plain-path.js'

it.each([
  '/data/a.tif',
  '/data/année/正射影像.tif',
  '/data/a b (1).jpg',
  '/data/12:30.png',
  `/data/5" <draft> & 'final'.tif`,
  '/data/<VRTDataset/>',
  '/data/north/../south/a.tif',
  '/vsimages/a.tif',
  '/data/vsicurl/a.tif',
  '/device/a.tif',
])('%s is plain', (path) => {
  // GDAL recognizes the names of its file systems only at the start of a path.
  expect(isPlainPath(path)).toBe(path !== '/vsimages/a.tif')
})

it.each([
  '',
  'a.tif',
  './a.tif',
  '/vsicurl/http://host/a.tif',
  '/vsizip//data/a.zip/a.tif',
  '/VSIS3/bucket/a.tif',
  '//vsicurl/a',
  '/vsistdin/',
  'http://host/a.tif',
  'file:///data/a.tif',
  '/data/http://host/a.tif',
  'vrt:///data/a.tif?bands=1',
  'WMS:http://host/',
  'GTIFF_DIR:2:/data/a.tif',
  'NETCDF:"/data/a.nc":x',
  'PG:dbname=gateway',
  '<VRTDataset/>',
  '/data/a.tif\u0000.jpg',
  '/data/a\n.tif',
  '/dev/stdin',
  '/proc/self/environ',
  '//proc/self/environ',
  '/sys/kernel',
])('%j is not plain', (path) => expect(isPlainPath(path)).toBe(false))

it('no text that starts like a GDAL file system is plain, however its slashes are multiplied', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom('vsicurl', 'VsiZip', 'vsitar', 'vsimem', 'vsigs'),
      fc.string(),
      (slashes, name, rest) => {
        expect(isPlainPath(`${'/'.repeat(slashes)}${name}/${rest}`)).toBe(false)
      },
    ),
  )
})
