import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { flipRow } from '../address.js'
import { FOLDER_LAYOUTS } from '../layouts/layout.js'
import { probeMbtiles } from '../mbtiles/probe.js'
import { probeTileSet } from '../probe.js'
import { findRowOrder } from './find-row-order.js'
import { type NumberOrder, withRowOrder } from './with-row-order.js'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'rows-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const SIDE = 32

/** Returns a tile whose colours tell its place in the world. */
function picture(z: number, x: number, y: number, format: 'png' | 'jpeg' = 'png'): Promise<Buffer> {
  const pixels = Buffer.alloc(SIDE * SIDE * 3)
  for (let j = 0; j < SIDE; j++) {
    for (let i = 0; i < SIDE; i++) {
      const [east, south] = [(x + i / SIDE) / 2 ** z, (y + j / SIDE) / 2 ** z]
      pixels.set(
        [255 * east, 255 * south, 127 + 100 * Math.sin(east * 40) * Math.cos(south * 31 + 1)],
        (j * SIDE + i) * 3,
      )
    }
  }
  return sharp(pixels, { raw: { width: SIDE, height: SIDE, channels: 3 } })
    .toFormat(format)
    .toBuffer()
}

/** All tiles of shallow zooms, and of deeper ones those around 10 degrees east, 50 degrees north. */
function places(zooms: readonly number[]): [z: number, x: number, y: number][] {
  return zooms.flatMap((z) => {
    const isNear = (n: number, at: number) => z < 3 || Math.abs(n - Math.floor(at * 2 ** z)) <= 1
    const all = Array.from({ length: 2 ** z }, (_, n) => n)
    return all
      .filter((x) => isNear(x, 0.5278))
      .flatMap((x) => all.filter((y) => isNear(y, 0.339)).map((y): [number, number, number] => [z, x, y]))
  })
}

const NAMES: Readonly<Record<NumberOrder, (z: number, x: number, y: number) => string>> = {
  xyz: (z, x, y) => `${z}/${x}/${y}`,
  tms: (z, x, y) => `${z}/${x}/${flipRow(z, y)}`,
  zyx: (z, x, y) => `${z}/${y}/${x}`,
  zyx_tms: (z, x, y) => `${z}/${flipRow(z, y)}/${x}`,
}

async function writeFolder(order: NumberOrder, zooms: readonly number[], isMixed = false): Promise<void> {
  for (const [z, x, y] of places(zooms)) {
    const format = isMixed && (x + y) % 2 === 1 ? 'jpeg' : 'png'
    const file = path.join(folder, `${NAMES[order](z, x, y)}.${format}`)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, await picture(z, x, y, format))
  }
}

async function writeMbtiles(order: 'xyz' | 'tms', metadata: Readonly<Record<string, string>>): Promise<string> {
  const file = path.join(folder, 'set.mbtiles')
  const tiles = await Promise.all(
    places([0, 1, 2, 3, 4]).map(async ([z, x, y]) => [
      z,
      x,
      order === 'xyz' ? y : flipRow(z, y),
      await picture(z, x, y),
    ]),
  )
  const database = new DatabaseSync(file)
  database.exec(`CREATE TABLE metadata (name text, value text);
    CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob);
    CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row); BEGIN`)
  const insert = database.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)')
  for (const tile of tiles) insert.run(...(tile as [number, number, number, Buffer]))
  for (const entry of Object.entries(metadata)) database.prepare('INSERT INTO metadata VALUES (?, ?)').run(...entry)
  database.exec('COMMIT')
  database.close()
  return file
}

const PNG_FOLDER = {
  storage: 'xyz',
  extension: 'png',
  rowsFromNorth: false,
  tileMatrixSet: 'WebMercatorQuad',
} as const

describe('the pictures of a folder', () => {
  it.each(['xyz', 'tms', 'zyx', 'zyx_tms'] as const)(
    'show the order %s, of the world and of a place',
    async (order) => {
      await writeFolder(order, [0, 1, 2])
      expect(await findRowOrder(folder, folder, PNG_FOLDER)).toBe(order)
      for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name), { recursive: true })
      await writeFolder(order, [3, 4, 5, 6, 7])
      expect(await findRowOrder(folder, folder, PNG_FOLDER)).toBe(order)
    },
  )

  it('show it in a set of two formats', async () => {
    await writeFolder('zyx', [0, 1, 2], true)
    const task = { ...PNG_FOLDER, formats: ['png', 'jpg'] } as const
    expect(await findRowOrder(folder, folder, task)).toBe('zyx')
  })

  it('decide against its metadata, with a warning that names both', async () => {
    await writeFolder('xyz', [0, 1, 2])
    fs.writeFileSync(path.join(folder, 'metadata.json'), '{"scheme": "tms", "bounds": "-180,-85,180,85"}')
    const probe = (await probeTileSet(folder, folder))!
    expect([probe.storage, probe.rowsAssumed]).toEqual(['tms', true])
    const found = withRowOrder(probe, (await findRowOrder(folder, folder, probe)) as 'xyz')
    expect([found.storage, found.warnings]).toEqual([
      'xyz',
      [expect.stringMatching(/from the north: the metadata says scheme tms, but the tiles of successive zooms/)],
    ])
  })
})

describe('the pictures of a folder of MapProxy', () => {
  it.each([
    ['tc', 'mapproxy_tc', 'tms'],
    ['mp', 'mapproxy_mp', 'tms'],
    ['arcgis', 'mapproxy_arcgis', 'xyz'],
    ['quadkey', 'quadkey', 'xyz'],
  ] as const)('%s show the order of rows, which its names do not', async (name, storage, usual) => {
    for (const order of ['xyz', 'tms'] as const) {
      for (const [z, x, y] of places([1, 2, 3, 4])) {
        const row = order === 'xyz' ? y : flipRow(z, y)
        const file = path.join(folder, order, `${FOLDER_LAYOUTS[name].write({ z, x, y: row })}.png`)
        fs.mkdirSync(path.dirname(file), { recursive: true })
        fs.writeFileSync(file, await picture(z, x, y))
      }
      const place = path.join(folder, order)
      const probe = (await probeTileSet(folder, place))!
      expect([probe.storage, probe.rowsAssumed]).toEqual([storage, true])
      const found = withRowOrder(probe, (await findRowOrder(folder, place, probe)) as 'xyz')
      expect([found.storage, found.rowsFromNorth]).toEqual([storage, order === 'xyz'])
      expect(found.warnings).toHaveLength(order === usual ? 0 : 1)
      expect(found.bounds?.[3]).toBeGreaterThan(60)
    }
  })
})

describe('the pictures of an MBTiles archive', () => {
  const resolved = async (order: 'xyz' | 'tms', metadata: Readonly<Record<string, string>>) => {
    const file = await writeMbtiles(order, metadata)
    const probe = probeMbtiles(folder, file)!
    if (!probe.rowsAssumed) return probe
    return withRowOrder(probe, (await findRowOrder(folder, file, probe)) as 'xyz' | 'tms' | null)
  }

  it.each([{ bounds: '-180,-85,180,85' }, { bounds: '-180,-85,180,85', scheme: 'xyz' }, { name: 'x' }])(
    'show rows from the north with %j',
    async (metadata) => {
      const { rowsFromNorth, warnings } = await resolved('xyz', metadata)
      expect([rowsFromNorth, warnings]).toEqual([true, [expect.stringContaining('rows are counted from the north')]])
    },
  )

  it.each([{ bounds: '-180,-85,180,85' }, { bounds: '-180,-85,180,85', scheme: 'xyz' }, { name: 'x', scheme: 'tms' }])(
    'never turn a correct one over, with %j',
    async (metadata) => {
      expect(await resolved('tms', metadata)).toMatchObject({ rowsFromNorth: false, warnings: [] })
    },
  )

  it('count more than bounds on the other side of the equator, which contain no tile', async () => {
    const file = await writeMbtiles('tms', { bounds: '-180,-85,180,-10' })
    const probe = probeMbtiles(folder, file)!
    expect(withRowOrder({ ...probe, rowsAssumed: true }, 'tms').rowsFromNorth).toBe(false)
  })
})
