import { textOf } from '@gateway/contracts/messages.js'
import { dependenciesOf } from '@gateway/styles/dependencies.js'
import { expect, test } from 'vitest'
import { styleProblems } from './problems.js'

const AVAILABLE = {
  basemaps: new Map([['world', ['2025', '2026']]]),
  vectors: new Set(['roads']),
  fonts: new Set(['Noto Sans Regular']),
  icons: new Map([['other', ['shop']]]),
}
const ICONS = { name: 'icons', path: '/styles/city/icons', kind: 'drawings', doubled: true, icons: ['school'] } as const

/** Returns the problems of a style whose labels use these icons. */
function told(icons: readonly string[], style: object): string[] {
  const layers = icons.map((icon, i) => ({ id: `${i}`, type: 'symbol', layout: { 'icon-image': icon } }))
  const document = { version: 8, sources: {}, layers, ...style }
  const dependencies = dependenciesOf(document)
  const needing = {
    code: 'city',
    dependencies,
    document: JSON.stringify(document),
    assets: { sprites: [ICONS], files: [] },
  }
  return styleProblems(needing, AVAILABLE).map(textOf)
}

test.each([
  ['its own sprite', 'gateway://sprites/city', ['school', 'gone'], ['gone']],
  ['a sprite by its path', 'icons', ['school', 'gone'], ['gone']],
  ['the sprite of another style', 'gateway://sprites/other', ['shop', 'school'], ['school']],
  ['no sprite', undefined, ['school'], ['school']],
  ['a sprite of another host, which may have any icon', 'https://x.example/sprite', ['school', 'gone'], []],
  [
    'several sprites, whose icons have prefixes',
    [
      { id: 'default', url: 'icons' },
      { id: 'o', url: 'gateway://sprites/other' },
    ],
    ['school', 'o:shop', 'shop', 'o:school', 'x:shop'],
    ['o:school', 'shop', 'x:shop'],
  ],
  [
    'sprites of which one is on another host',
    [
      { id: 'default', url: 'icons' },
      { id: 'x', url: 'https://x.example/sprite' },
    ],
    ['x:any', 'gone'],
    ['gone'],
  ],
])('icons are looked for in %s', (_, sprite, icons, missing) => {
  expect(told(icons, { sprite })).toEqual(
    missing.map((icon) => `the style "city" needs the icon "${icon}", which its sprites do not have: it is not drawn`),
  )
})

test('another host of tiles does not keep icons from being looked for', () => {
  const sources = { a: { type: 'vector', url: 'https://tiles.example/a.json' } }
  expect(told(['gone'], { sprite: 'icons', sources })).toHaveLength(1)
})

test('a basemap, a version and a vector that are missing are told with the source that stays empty', () => {
  const sources = {
    old: { type: 'raster', url: 'gateway://basemaps/world/2019' },
    fixed: { type: 'raster', url: 'gateway://basemaps/world/2025' },
    now: { type: 'raster', url: 'gateway://basemaps/world/current' },
    sea: { type: 'raster', url: 'gateway://basemaps/sea/1' },
    rail: { type: 'vector', url: 'gateway://vectors/rail' },
  }
  expect(told([], { sources })).toEqual([
    'the style "city" needs the basemap "world/2019", which is missing: its source "old" stays empty',
    'the style "city" needs the basemap "sea", which is missing: its source "sea" stays empty',
    'the style "city" needs the vector "rail", which is missing: its source "rail" stays empty',
  ])
})

test.each([
  ['gateway://fonts', 1],
  ['fonts/{fontstack}/{range}.pbf', 1],
  ['https://fonts.example/{fontstack}/{range}.pbf', 0],
  ['//fonts.example/{fontstack}/{range}.pbf', 0],
  [undefined, 0],
])("a font that is missing is named if the glyphs %s are the gateway's", (glyphs, count) => {
  const layers = [{ id: 'a', type: 'symbol', layout: { 'text-font': ['Nobody has this'] } }]
  expect(told([], { layers, ...(glyphs !== undefined && { glyphs }) })).toHaveLength(count)
})
