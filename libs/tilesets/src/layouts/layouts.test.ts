import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { probeTileSet } from '../probe.js'
import { writeFiles } from '../testing/esri-caches.js'
import { bytesOf, pyramid, setsIn } from '../testing/listed-tiles.js'
import { FOLDER_LAYOUTS } from './layout.js'

let root: string
beforeAll(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'layouts-')))
})
afterAll(() => fs.rmSync(root, { recursive: true }))

const { at, open, addressesOf } = setsIn(() => root)

describe("MapProxy's layouts", () => {
  test.each([
    ['tc', 'mapproxy_tc', false],
    ['mp', 'mapproxy_mp', false],
    ['arcgis', 'mapproxy_arcgis', true],
    ['quadkey', 'quadkey', true],
  ] as const)(
    '%s is found, with its rows as MapProxy counts them, or from the other side if that is set',
    async (name, storage, fromNorth) => {
      const folder = `maps-${name}`
      const tiles = await pyramid()
      writeFiles(
        at(folder),
        tiles.map(({ level: z, column: x, row, data }) => {
          const y = fromNorth ? row : 2 ** z - 1 - row
          return [`${FOLDER_LAYOUTS[name].write({ z, x, y })}.png`, data] as const
        }),
      )
      expect(await probeTileSet(root, at(folder))).toMatchObject({
        storage,
        rowsFromNorth: fromNorth,
        format: 'png',
        tileSize: 256,
        minZoom: 0,
        maxZoom: 2,
      })
      const source = await open(folder, storage, { rowsFromNorth: fromNorth })
      for (const { level: z, column: x, row: y, data } of tiles)
        expect((await bytesOf(await source.tile({ z, x, y })))?.equals(data)).toBe(true)
      expect(await source.tile({ z: 2, x: 0, y: 0 })).toBeNull()
      source.close()
      expect(await addressesOf(folder, storage, 2, { rowsFromNorth: fromNorth })).toEqual(['1/0', '3/2'])
      expect(await addressesOf(folder, storage, 2, { rowsFromNorth: !fromNorth })).toEqual(['1/3', '3/1'])
    },
  )

  test('numbers have the same digits as in MapProxy', () => {
    const place = { z: 12, x: 1234567, y: 21 }
    expect(FOLDER_LAYOUTS.tc.write(place)).toBe('12/001/234/567/000/000/021')
    expect(FOLDER_LAYOUTS.mp.write(place)).toBe('12/0123/4567/0000/0021')
    expect(FOLDER_LAYOUTS.arcgis.write({ z: 3, x: 255, y: 16 })).toBe('L03/R00000010/C000000ff')
    expect(FOLDER_LAYOUTS.quadkey.write({ z: 3, x: 3, y: 5 })).toBe('213')
  })

  test('rows of a column that look like keys are not quadkeys', async () => {
    writeFiles(
      at('tree'),
      ['10', '11', '12', '13'].map((row) => [`5/7/${row}.png`, 'x'] as const),
    )
    expect(await probeTileSet(root, at('tree/5/7'))).toBeNull()
    expect(await probeTileSet(root, at('tree'))).toMatchObject({ storage: 'xyz' })
  })
})
