import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import type { ExportFormat } from '@gateway/contracts/export.js'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeMbtiles } from '../mbtiles/writer.js'
import { probeTileSet } from '../probe.js'
import type { StoredSet } from '../source.js'
import { makeConf } from '../testing/esri-caches.js'
import type { TileToWrite } from '../tile-to-write.js'
import { storedTiles } from './stored-tiles.js'
import { writeExport } from './write-export.js'

let root: string
beforeAll(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'formats-')))
})
afterAll(() => rmSync(root, { recursive: true }))

const ALL = { minZoom: 0, maxZoom: 30, bounds: null }

/** A pyramid across the edges of bundles: all of zooms 0 to 2, and of zoom 9 the tiles around a corner of four bundles. */
async function pyramid(format: 'png' | 'jpg' | 'webp'): Promise<TileToWrite[]> {
  const places: [number, number, number][] = []
  for (let z = 0; z <= 2; z++) for (let x = 0; x < 2 ** z; x++) for (let y = 0; y < 2 ** z; y++) places.push([z, x, y])
  for (let x = 126; x <= 129; x++) for (let y = 254; y <= 257; y++) places.push([9, x, y])
  return Promise.all(
    places.map(async ([z, x, y]) => {
      const background = { r: z * 20, g: (x * 30) % 256, b: (y * 30) % 256 }
      const picture = sharp({ create: { width: 256, height: 256, channels: 3, background } })
      return {
        z,
        x,
        y,
        data: await picture.toFormat(format === 'jpg' ? 'jpeg' : format, { lossless: true }).toBuffer(),
      }
    }),
  )
}

async function setOf(tiles: TileToWrite[], format: TileFormat): Promise<StoredSet> {
  const file = path.join(root, `${format}.mbtiles`)
  await writeMbtiles(file, tiles, { name: 'World', format, bounds: [-180, -85, 180, 85], metadata: {} })
  return { storage: 'mbtiles', format, path: file, root, extension: format }
}

async function exported(set: StoredSet, archiveFormat: ExportFormat, name: string) {
  const folder = path.join(root, 'out')
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, `${name}.${archiveFormat}`)
  const metadata = { name: 'World', attribution: 'Somebody', vector_layers: [{ id: 'roads', fields: {} }] }
  const task = { set, area: ALL, bounds: [-180, -85, 180, 85] as const, metadata, archiveFormat, file, maxBytes: 1e9 }
  const written = await writeExport({ ...task, bounds: [-180, -85, 180, 85] }, () => {})
  return { file, folder, written }
}

/** Returns all tiles of an archive by this project's readers, as `z/x/y` with their bytes. */
async function tilesOf(root: string, file: string, format: TileFormat) {
  const probe = await probeTileSet(root, file)
  if (probe === null) throw new Error('nothing there')
  const own = probe.storage === 'geopackage' ? `${file}/tiles` : file
  const set = { storage: probe.storage, rowsFromNorth: false, format, path: own, root, extension: format }
  const stored = await storedTiles(set, ALL)
  const found = new Map<number, Buffer>()
  for await (const { tileId, runLength = 1, data } of stored?.tiles ?? [])
    for (let id = tileId; id < tileId + runLength; id++) found.set(id, Buffer.from(data))
  stored?.close()
  return { probe, found }
}

test.each([
  ['mbtiles', 'png'],
  ['mbtiles', 'webp'],
  ['gpkg', 'png'],
  ['gpkg', 'jpg'],
  ['gpkg', 'webp'],
  ['tpkx', 'png'],
  ['tpkx', 'jpg'],
  ['tpkx', 'webp'],
] as const)('an export as %s of %s has every tile of the set, byte for byte', async (archiveFormat, format) => {
  const tiles = await pyramid(format)
  const set = await setOf(tiles, format)
  const { file, folder, written } = await exported(set, archiveFormat, format)
  expect(written).toMatchObject({ tiles: tiles.length, minZoom: 0, maxZoom: 9 })
  const { probe, found } = await tilesOf(folder, file, format)
  expect(probe).toMatchObject({ format, minZoom: 0, maxZoom: 9, tileSize: 256, name: 'World', warnings: [] })
  expect(found).toEqual((await tilesOf(root, set.path, format)).found)
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
})

test.each(['mbtiles', 'gpkg', 'tpkx'] as const)('GDAL reads the pictures of an export as %s', async (archiveFormat) => {
  const set = await setOf(await pyramid('png'), 'png')
  const { file } = await exported(set, archiveFormat, 'gdal')
  const opened = archiveFormat === 'tpkx' ? unpackedForGdal(file) : file
  // The deepest zoom of the world has 2^9 tiles in a row. Reads the middle of the tile 9/128/255, and one of another bundle.
  const half = 20037508.342789244
  const colour = (x: number, y: number) => {
    const place = [((x + 0.5) / 256 - 1) * half, (1 - (y + 0.5) / 256) * half].map(String)
    const args = ['-valonly', '-geoloc', opened, ...place]
    return execFileSync('gdallocationinfo', args, { encoding: 'utf8' }).trim().split(/\s+/).slice(0, 3).map(Number)
  }
  expect(colour(128, 255)).toEqual([180, (128 * 30) % 256, (255 * 30) % 256])
  expect(colour(127, 256)).toEqual([180, (127 * 30) % 256, (256 * 30) % 256])
})

/** Unpacks a package with another program, because GDAL 3.6 reads only bundles next to a `conf.xml`. */
function unpackedForGdal(file: string): string {
  const folder = `${file}.unpacked`
  execFileSync('/usr/bin/python3', ['-m', 'zipfile', '-t', file], { stdio: 'ignore' })
  execFileSync('/usr/bin/python3', ['-m', 'zipfile', '-e', file, folder])
  renameSync(path.join(folder, 'tile'), path.join(folder, '_alllayers'))
  const { tileInfo } = JSON.parse(readFileSync(path.join(folder, 'root.json'), 'utf8'))
  writeFileSync(path.join(folder, 'conf.xml'), makeConf({ levels: tileInfo.lods }))
  return path.join(folder, 'conf.xml')
}

test('vector tiles are gzipped in MBTiles, whose metadata contain their layers', async () => {
  const data = Buffer.from([0x1a, 0x00])
  const set = await setOf([{ z: 0, x: 0, y: 0, data }], 'pbf')
  const { file, folder } = await exported(set, 'mbtiles', 'vector')
  const { probe, found } = await tilesOf(folder, file, 'pbf')
  expect(probe).toMatchObject({ format: 'pbf', vectorLayers: [{ id: 'roads', fields: {} }], attribution: 'Somebody' })
  expect([...found.values()].map((packed) => gunzipSync(packed))).toEqual([data])
})
