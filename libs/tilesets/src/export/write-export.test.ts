import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { PMTiles, type RangeResponse, type Source } from 'pmtiles'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { flipRow } from '../address.js'
import { writeMbtiles } from '../mbtiles/writer.js'
import { writePmtiles } from '../pmtiles/writer.js'
import type { StoredSet } from '../source.js'
import type { TileToWrite } from '../tile-to-write.js'
import type { Area } from './area.js'
import { writeExport } from './write-export.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'export-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const WORLD: Bounds = [-180, -85, 180, 85]
const ALL: Area = { minZoom: 0, maxZoom: 30, bounds: null }

/** All tiles of zooms 0 to 4; the southern half is sea with one content. */
function pyramid(): TileToWrite[] {
  const tiles: TileToWrite[] = []
  for (let z = 0; z <= 4; z++)
    for (let x = 0; x < 2 ** z; x++)
      for (let y = 0; y < 2 ** z; y++) {
        const isSea = z > 0 && y >= 2 ** (z - 1)
        tiles.push({ z, x, y, data: Buffer.from(isSea ? 'sea' : `${z}/${x}/${y}`) })
      }
  return tiles
}

async function stored(
  storage: StoredSet['storage'],
  tiles: TileToWrite[],
  format: 'png' | 'pbf' = 'png',
): Promise<StoredSet> {
  const file = path.join(root, `set.${storage}`)
  const about = { format, bounds: WORLD, metadata: {} } as const
  if (storage === 'mbtiles') await writeMbtiles(file, tiles, { ...about, name: 'set' })
  else if (storage === 'pmtiles') await writePmtiles(file, tiles, { ...about, encoding: 'identity' })
  else {
    for (const { z, x, y, data } of tiles) {
      const row = storage === 'tms' ? flipRow(z, y) : y
      mkdirSync(path.join(file, `${z}/${x}`), { recursive: true })
      writeFileSync(path.join(file, `${z}/${x}/${row}.${format}`), data)
    }
    writeFileSync(path.join(file, 'metadata.json'), '{}')
  }
  return { storage, format, path: file, root, extension: format }
}

const task = (set: StoredSet, area: Area = ALL) => ({
  set,
  area,
  bounds: WORLD,
  metadata: { name: 'Set' },
  file: path.join(root, 'out', 'a.pmtiles'),
  maxBytes: 1e9,
})

async function exported(set: StoredSet, area?: Area) {
  mkdirSync(path.join(root, 'out'), { recursive: true })
  const wanted = task(set, area)
  const written = await writeExport(wanted, () => {})
  return { written, ...(await read(wanted.file)) }
}

/** Returns all tiles of the pyramid that the upstream reader finds. */
async function read(file: string) {
  const bytes = await readFile(file)
  const source: Source = {
    getKey: () => file,
    getBytes: async (offset: number, length: number): Promise<RangeResponse> => ({
      data: Uint8Array.from(bytes.subarray(offset, offset + length)).buffer,
    }),
  }
  const archive = new PMTiles(source)
  const found = new Map<string, string>()
  for (const { z, x, y } of pyramid()) {
    const tile = await archive.getZxy(z, x, y)
    if (tile !== undefined) found.set(`${z}/${x}/${y}`, Buffer.from(tile.data).toString())
  }
  return { header: await archive.getHeader(), metadata: await archive.getMetadata(), found, size: bytes.length }
}

test.each(['xyz', 'tms', 'mbtiles', 'pmtiles'] as const)(
  'a set stored as %s is written whole, equal tiles once',
  async (storage) => {
    const { written, header, metadata, found, size } = await exported(await stored(storage, pyramid()))
    expect(found).toEqual(new Map(pyramid().map(({ z, x, y, data }) => [`${z}/${x}/${y}`, data.toString()])))
    expect(written).toEqual({ tiles: 341, contents: 172, bytes: size, minZoom: 0, maxZoom: 4 })
    expect(header).toMatchObject({
      clustered: true,
      numAddressedTiles: 341,
      numTileContents: 172,
      minZoom: 0,
      maxZoom: 4,
    })
    expect(header.numTileEntries).toBeLessThan(341)
    expect(metadata).toEqual({ name: 'Set' })
  },
)

test.each(['xyz', 'mbtiles', 'pmtiles'] as const)(
  'a part of a set stored as %s has the tiles that lie in it, and its own bounds',
  async (storage) => {
    const set = await stored(storage, pyramid())
    const { header, found } = await exported(set, { minZoom: 2, maxZoom: 3, bounds: [0, 0, 90, 75] })
    expect([...found.keys()].sort()).toEqual(['2/2/0', '2/2/1', '3/4/1', '3/4/2', '3/4/3', '3/5/1', '3/5/2', '3/5/3'])
    expect([header.minLon, header.minLat, header.maxLon, header.maxLat]).toEqual([0, 0, 90, 75])
    const across = await exported(set, { minZoom: 2, maxZoom: 2, bounds: [170, 10, -170, 20] })
    expect([...across.found.keys()].sort()).toEqual(['2/0/1', '2/3/1'])
  },
)

test('vector tiles are gzipped, however each of them was stored', async () => {
  const data = (text: string) => Buffer.from(`\x1a${text}`)
  const tiles = [
    { z: 1, x: 0, y: 0, data: gzipSync(data('packed')) },
    { z: 1, x: 1, y: 1, data: data('plain') },
  ]
  const set = await stored('xyz', tiles, 'pbf')
  const { header, found } = await exported(set)
  expect(header.tileCompression).toBe(2)
  expect(found.get('1/1/1')).toBe('\x1aplain')
  const archive = await open(path.join(root, 'out/a.pmtiles'))
  const first = Buffer.alloc(100)
  await archive.read(first, 0, 100, header.tileDataOffset)
  await archive.close()
  expect(gunzipSync(first.subarray(0, tiles[0]!.data.length)).toString()).toBe('\x1apacked')
})

test('an archive above its limit, or without tiles, is refused, and leaves no file behind', async () => {
  const set = await stored('xyz', pyramid())
  mkdirSync(path.join(root, 'out'))
  await expect(writeExport({ ...task(set), maxBytes: 10_000 }, () => {})).rejects.toThrow('larger than the 0 MB')
  await expect(writeExport(task(set, { ...ALL, minZoom: 9 }), () => {})).rejects.toThrow('no tile in this area')
  await expect(
    writeExport(task({ ...set, path: `${root}/none.mbtiles`, storage: 'mbtiles' }), () => {}),
  ).rejects.toThrow('are missing')
  expect(readdirSync(path.join(root, 'out'))).toEqual([])
})

test('vector tiles come as gzip of their content, whatever their stored compression is', async () => {
  const content = Buffer.from('1a057802', 'hex')
  const stored3 = [deflateSync(content), gzipSync(content), content].map((data, x) => ({ z: 2, x, y: 0, data }))
  const { found } = await exported(await stored('mbtiles', stored3, 'pbf'))
  expect([0, 1, 2].map((x) => found.get(`2/${x}/0`))).toEqual(Array.from({ length: 3 }, () => content.toString()))
})
