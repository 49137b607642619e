import { expect, test } from 'vitest'
import { viewOf } from './vectors-page.js'

test.each([
  ['a town', [8.4, 53, 8.9, 53.2], { view: '8.4,53,8.9,53.2' }],
  ['the world, which has no smaller map', [-180, -90, 180, 83.6], { view: '-180,-85,180,83.6', side: 512 }],
  ['both sides of the 180th meridian', [170, -20, -170, 20], { view: '170,-20,-170,20', side: 512 }],
  ['a single place', [8.5, 53.1, 8.5, 53.1], { view: '8.5,53.1,12' }],
  ['a line to the north', [8.5, 53, 8.5, 54], { view: '8.5,53.5,12' }],
])('the picture of a vector shows %s', (_, bounds, view) => {
  expect(viewOf(bounds)).toEqual(view)
})
