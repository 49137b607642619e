import { expect, test } from 'vitest'
import { companionKind } from './fetch-images.js'

test.each([
  ['a/north.tif.msk', 'raster'],
  ['a/north.tif.MSK', 'raster'],
  ['a/north.tif.ovr', 'raster'],
  ['a/north.tif.msk.ovr', 'raster'],
  ['a/north.tif.aux.xml', 'text'],
  ['a/north.prj', 'text'],
  ['a/north.tfw', 'text'],
  ['a/north.TFW', 'text'],
  ['a/north.tifw', 'text'],
  ['a/north.wld', 'text'],
  ['a/north_RPC.TXT', 'text'],
  ['a/north.RPB', 'text'],
  ['a/north.tif', null],
  ['a/north.vrt', null],
  ['a/north-east.prj', null],
  ['a/north.tif.aux', null],
])('%s next to an image is fetched as %s', (key, kind) => expect(companionKind('a/north.tif', key)).toBe(kind))
