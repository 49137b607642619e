import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeTpkx } from '@gateway/tilesets/esri/writer.js'
import { writeGeopackage } from '@gateway/tilesets/geopackage/writer.js'
import { FOLDER_LAYOUTS } from '@gateway/tilesets/layouts/layout.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { MERCATOR_LEVELS, makeBundles, makeConf, writeFiles } from '@gateway/tilesets/testing/esri-caches.js'
import { makeTiledTiff } from '@gateway/tilesets/testing/tiled-tiffs.js'
import { zxyToTileId } from 'pmtiles'
import type { DataSet } from './data-set.js'
import type { Address } from './traffic.js'

/** Version of the data. Increment it with every change. */
const VERSION = 1
/** Number of tiles, the first of `many`: five times the memory of the environment `small`. */
const TILES = 10_100
const BOUNDS = [-180, -85, 180, 85] as never

/** Basemaps of the same tiles in the formats of other makers, and as PMTiles for comparison, with the extension of their tiles. */
export const OTHERS = {
  'others-pmtiles': 'png',
  'others-gpkg': 'png',
  'others-tpkx': 'png',
  'others-compact': 'png',
  'others-exploded': 'png',
  'others-tc': 'png',
  'others-quadkey': 'png',
  'others-cog-webp': 'webp',
  'others-cog-jpeg': 'jpg',
} as const
export type Other = keyof typeof OTHERS

export const othersDirectory = (): string => join(tmpdir(), `gateway-bench-others-${VERSION}`, 'basemaps')

export const othersTiles = ({ manyTiles }: DataSet): readonly Address[] => manyTiles.slice(0, TILES)

/** Creates the data unless it exists: about 1.4 GB. Returns the source directory of a gateway. */
export async function othersSet(data: DataSet): Promise<string> {
  const basemaps = othersDirectory()
  if (existsSync(basemaps)) return basemaps
  process.stderr.write(`Making the data in ${basemaps}, once ...\n`)
  const unfinished = `${basemaps}-${process.pid}`
  const tiles = await Promise.all(
    othersTiles(data).map(async ({ z, x, y }) => {
      return { z, x, y, data: await readFile(join(data.basemaps, `many/v1/${z}/${x}/${y}.png`)) }
    }),
  )
  const fileOf = async (name: Other, version: string) => {
    const file = join(unfinished, name, version)
    await mkdir(dirname(file), { recursive: true })
    return file
  }
  const about = { format: 'png', encoding: 'identity', bounds: BOUNDS, metadata: { name: 'others' } } as const
  const inOrder = tiles.toSorted((a, b) => zxyToTileId(a.z, a.x, a.y) - zxyToTileId(b.z, b.x, b.y))
  const each = async function* () {
    yield* inOrder
  }
  await writePmtiles(await fileOf('others-pmtiles', 'v1.pmtiles'), tiles, about)
  await writeGeopackage(await fileOf('others-gpkg', 'v1.gpkg'), each(), { ...about, tileSize: 256 })
  await writeTpkx(await fileOf('others-tpkx', 'v1.tpkx'), each(), { ...about, tileSize: 256 })
  const inCache = tiles.map(({ z, x, y, data: bytes }) => ({ level: z, column: x, row: y, data: bytes }))
  const conf = ['conf.xml', makeConf({ levels: MERCATOR_LEVELS })] as const
  const bundles = [...makeBundles(inCache)].map(([name, bytes]) => [`_alllayers/${name}`, bytes] as const)
  writeFiles(join(unfinished, 'others-compact/v1'), [conf, ...bundles])
  const named = (layout: keyof typeof FOLDER_LAYOUTS, prefix = '') =>
    tiles.map(({ data: bytes, ...place }) => [`${prefix}${FOLDER_LAYOUTS[layout].write(place)}.png`, bytes] as const)
  const exploded = makeConf({ levels: MERCATOR_LEVELS, storage: 'esriMapCacheStorageModeExploded' })
  writeFiles(join(unfinished, 'others-exploded/v1'), [['conf.xml', exploded], ...named('arcgis', '_alllayers/')])
  // MapProxy counts these rows from the south.
  const flipped = tiles.map(({ z, x, y, data: bytes }) => {
    return [`${FOLDER_LAYOUTS.tc.write({ z, x, y: 2 ** z - 1 - y })}.png`, bytes] as const
  })
  writeFiles(join(unfinished, 'others-tc/v1'), flipped)
  writeFiles(join(unfinished, 'others-quadkey/v1'), named('quadkey'))
  for (const compression of ['webp', 'jpeg'] as const) {
    await writeFile(await fileOf(`others-cog-${compression}`, 'v1.tif'), makeTiledTiff(tiles, { compression }))
  }
  await rm(basemaps, { recursive: true, force: true })
  await rename(unfinished, basemaps)
  return basemaps
}
