import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Storage, TileFormat } from '@gateway/contracts/basemap.js'
import { writeGeopackage } from '@gateway/tilesets/geopackage/writer.js'
import { FOLDER_LAYOUTS } from '@gateway/tilesets/layouts/layout.js'
import {
  MERCATOR_LEVELS,
  makeBundles,
  makeConf,
  makeRoot,
  makeZip,
  writeFiles,
} from '@gateway/tilesets/testing/esri-caches.js'
import { moveTables } from '@gateway/tilesets/testing/moved-tables.js'
import { makeTiledTiff } from '@gateway/tilesets/testing/tiled-tiffs.js'

/** Zoom of most tiles: one bundle, or 128 by 128 files. */
const ZOOM = 7
/** Offset of the levels of the exploded cache and of the moved table. */
const SHIFT = 3
const SIDE = 2 ** ZOOM

interface Other {
  readonly storage: Storage
  readonly file: string
  readonly format: TileFormat
  readonly rowsFromNorth?: boolean
}

/** Basemaps in the formats of other makers. */
export const OTHERS = {
  package: { storage: 'tpkx', file: 'package.tpkx', format: 'png' },
  vpackage: { storage: 'vtpk', file: 'package.vtpk', format: 'pbf' },
  compact: { storage: 'esri_compact', file: 'compact', format: 'png' },
  vcompact: { storage: 'esri_compact', file: 'vcompact', format: 'pbf' },
  exploded: { storage: 'esri_exploded', file: 'exploded', format: 'png' },
  tc: { storage: 'mapproxy_tc', file: 'tc', format: 'png' },
  mp: { storage: 'mapproxy_mp', file: 'mp', format: 'pbf' },
  arcgis: { storage: 'mapproxy_arcgis', file: 'arcgis', format: 'png', rowsFromNorth: true },
  quadkey: { storage: 'quadkey', file: 'quadkey', format: 'png', rowsFromNorth: true },
  table: { storage: 'geopackage', file: 'table.gpkg/tiles', format: 'png' },
  moved: { storage: 'geopackage', file: 'moved.gpkg/tiles', format: 'png' },
  odd: { storage: 'geopackage', file: 'odd.gpkg/tiles', format: 'png' },
  high: { storage: 'esri_compact', file: 'high', format: 'png' },
  cog: { storage: 'cog', file: 'cog.tif', format: 'webp' },
  jcog: { storage: 'cog', file: 'jcog.tif', format: 'jpg' },
} as const satisfies Readonly<Record<string, Other>>
export type OtherCode = keyof typeof OTHERS
export const OTHER_CODES = Object.keys(OTHERS) as OtherCode[]
/**
 * Codes whose descriptions have levels that only JavaScript can find: a level that is not a whole number, and 300 instead of a zoom whose level fits.
 */
export const NOT_NATIVE: readonly OtherCode[] = ['odd', 'high']

type Tiles = readonly { readonly z: number; readonly x: number; readonly y: number; readonly data: Uint8Array }[]

/** Writes all of them into a folder. */
export async function writeOthers(folder: string): Promise<void> {
  const at = (name: string) => path.join(folder, name)
  const all = Array.from({ length: SIDE * SIDE }, (_, i) => {
    return { z: ZOOM, x: i % SIDE, y: Math.floor(i / SIDE), data: randomBytes(20 + (i % 50)) }
  })
  const large = { z: 0, x: 0, y: 0, data: randomBytes(100_000) }
  const middle = { z: 3, x: 1, y: 1, data: randomBytes(50_000) }
  const images = [large, middle, ...all.filter((_, i) => i % 7 !== 0)]
  const vectors = all.slice(0, 200).map((tile, i) => (i < 100 ? { ...tile, data: gzipSync(tile.data) } : tile))
  const few = [large, middle, ...all.filter(({ x, y }) => x < 12 && y < 12 && (x + y) % 5 !== 0)]
  const root = (base: string, format: string) =>
    [`${base}root.json`, makeRoot({ levels: MERCATOR_LEVELS, format })] as const
  fs.writeFileSync(at('package.tpkx'), makeZip([root('', 'PNG'), ...bundlesOf(images, 'tile/')]))
  fs.writeFileSync(at('package.vtpk'), makeZip([root('p12/', 'pbf'), ...bundlesOf(vectors, 'p12/tile/')]))
  const conf = (format: string, more = {}) =>
    ['conf.xml', makeConf({ levels: MERCATOR_LEVELS, format, ...more })] as const
  writeFiles(at('compact'), [conf('PNG'), ...bundlesOf(images, '_alllayers/')])
  const levelsOfHigh = MERCATOR_LEVELS.map((one) => ({ ...one, level: one.level === 3 ? 300 : one.level }))
  writeFiles(at('high'), [conf('PNG', { levels: levelsOfHigh }), ...bundlesOf(few, '_alllayers/')])
  writeFiles(at('vcompact'), [conf('pbf'), ...bundlesOf(vectors, '_alllayers/')])
  const levels = MERCATOR_LEVELS.map((one) => ({ ...one, level: one.level + SHIFT }))
  const shifted = few.map((tile) => ({ ...tile, z: tile.z + SHIFT }))
  writeFiles(at('exploded'), [
    conf('PNG', { levels, storage: 'esriMapCacheStorageModeExploded' }),
    ...named('arcgis', shifted, '_alllayers/', 'png'),
  ])
  const flipped = (tiles: Tiles) => tiles.map((tile) => ({ ...tile, y: 2 ** tile.z - 1 - tile.y }))
  writeFiles(at('tc'), named('tc', flipped(few), '', 'png'))
  writeFiles(at('mp'), named('mp', flipped(vectors), '', 'pbf'))
  writeFiles(at('arcgis'), named('arcgis', few, '', 'png'))
  writeFiles(at('quadkey'), named('quadkey', few, '', 'png'))
  await writeTables(at, images)
  const inImage = all.filter(({ x, y }, i) => x > 20 && y < 100 && i % 6 !== 0)
  fs.writeFileSync(at('cog.tif'), makeTiledTiff([...inImage, ...middling(inImage)], { compression: 'webp' }))
  fs.writeFileSync(
    at('jcog.tif'),
    makeTiledTiff([...inImage, ...middling(inImage)], { compression: 'jpeg', isBig: true }),
  )
}

/** Replaces two tiles by larger ones: the last of a place counts. */
function middling(tiles: Tiles): Tiles {
  return [20_000, 100_000].map((size, i) => ({ ...(tiles[i] as Tiles[number]), data: randomBytes(size) }))
}

function bundlesOf(tiles: Tiles, prefix: string): (readonly [string, Buffer])[] {
  const bundles = makeBundles(tiles.map(({ z, x, y, data }) => ({ level: z, column: x, row: y, data })))
  return [...bundles].map(([name, data]) => [prefix + name, data] as const)
}

function named(layout: keyof typeof FOLDER_LAYOUTS, tiles: Tiles, prefix: string, extension: string) {
  return tiles.map(({ data, ...place }) => {
    return [`${prefix}${FOLDER_LAYOUTS[layout].write(place)}.${extension}`, data] as const
  })
}

/** A GeoPackage of the whole grid, and one whose matrices are the south-eastern quarter of it, with other levels. */
async function writeTables(at: (name: string) => string, tiles: Tiles): Promise<void> {
  const about = {
    format: 'png',
    encoding: 'identity',
    bounds: [-180, -85, 180, 85],
    metadata: {},
    tileSize: 256,
  } as const
  const each = async function* () {
    yield* tiles
  }
  await writeGeopackage(at('table.gpkg'), each(), about as unknown as Parameters<typeof writeGeopackage>[2])
  fs.copyFileSync(at('table.gpkg'), at('moved.gpkg'))
  fs.copyFileSync(at('table.gpkg'), at('odd.gpkg'))
  moveTables(at('moved.gpkg'), { least: 3, shift: SHIFT })
  moveTables(at('odd.gpkg'), { least: 3, shift: 0.5 })
}
