import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Storage } from '@gateway/contracts/basemap.js'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BrokenArchiveError } from './broken-archive.js'
import { listTileTables } from './geopackage/archive.js'
import { FOLDER_LAYOUTS } from './layouts/layout.js'
import { openListed } from './listed-source.js'
import { openMbtiles } from './mbtiles/archive.js'
import { probeTileSet } from './probe.js'
import { readExactly } from './read-exactly.js'
import type { Tile } from './source.js'
import {
  type CacheTile,
  MERCATOR_LEVELS,
  makeBundles,
  makeConf,
  makeEnvelope,
  makeRoot,
  makeZip,
  writeFiles,
} from './testing/esri-caches.js'
import { ALL_CACHED, servedFrom } from './testing/served-from.js'

let root: string
beforeAll(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'others-')))
})
afterAll(() => fs.rmSync(root, { recursive: true }))

const at = (name: string) => path.join(root, name)

/** Makes a picture whose colour encodes its address. */
const picture = (z: number, x: number, y: number) =>
  sharp({ create: { width: 256, height: 256, channels: 3, background: { r: z * 40, g: x * 30, b: y * 30 } } })
    .png()
    .toBuffer()

async function bytesOf(tile: Tile | null | 'busy'): Promise<Buffer | null> {
  if (tile === null || tile === 'busy') return null
  const { body } = tile
  if (body instanceof Uint8Array) return Buffer.from(body)
  const bytes = await readExactly(body.fd, body.offset, body.length)
  body.release()
  return bytes
}

async function open(name: string, storage: Storage, more = {}) {
  const source = await openListed(servedFrom(root, at(name), storage, more), ALL_CACHED)
  if (source === null) throw new Error('absent')
  return source
}

async function addressesOf(name: string, storage: Storage, zoom: number, more = {}) {
  const source = await open(name, storage, more)
  const found: string[] = []
  for await (const [x, y] of source.addresses(zoom)) found.push(`${x}/${y}`)
  source.close()
  return found.sort()
}

/** A pyramid of three zooms: all tiles of zooms 0 and 1, two tiles of zoom 2. `shift`: offset of levels from zooms. */
async function pyramid(shift = 0): Promise<CacheTile[]> {
  const places = [
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [1, 0, 1],
    [1, 1, 1],
    [2, 1, 0],
    [2, 3, 2],
  ] as const
  return Promise.all(
    places.map(async ([z, x, y]) => ({ level: z + shift, column: x, row: y, data: await picture(z, x, y) })),
  )
}

describe('Esri caches', () => {
  test('a compact cache is found by its description, and returns each original tile', async () => {
    const tiles = await pyramid()
    writeFiles(at('compact'), [
      ['conf.xml', makeConf({ levels: MERCATOR_LEVELS })],
      ['conf.cdi', makeEnvelope([0, 0, 20037508.342787, 20037508.342787])],
      ...[...makeBundles(tiles)].map(([name, data]) => [`_alllayers/${name}`, data] as const),
    ])
    const probe = await probeTileSet(root, at('compact'))
    expect(probe).toMatchObject({
      storage: 'esri_compact',
      format: 'png',
      tileSize: 256,
      minZoom: 0,
      maxZoom: 2,
      tileMatrixSet: 'WebMercatorQuad',
      warnings: [],
    })
    expect(probe?.bounds?.map((each) => Math.round(each * 1e4) / 1e4)).toEqual([0, 0, 180, 85.0511])
    const source = await open('compact', 'esri_compact')
    for (const { level, column, row, data } of tiles) {
      expect((await bytesOf(await source.tile({ z: level, x: column, y: row })))?.equals(data)).toBe(true)
      // Its bundle is open by now.
      expect((await bytesOf(source.tileIfCached?.({ z: level, x: column, y: row }) ?? null))?.equals(data)).toBe(true)
    }
    expect(await source.tile({ z: 2, x: 0, y: 0 })).toBeNull()
    expect(await source.tile({ z: 9, x: 300, y: 300 })).toBeNull()
    source.close()
    expect(await addressesOf('compact', 'esri_compact', 2)).toEqual(['1/0', '3/2'])
  })

  test('GDAL reads the same pictures from the bundles', async () => {
    const tiles = await pyramid()
    const folder = at('for-gdal')
    writeFiles(folder, [
      ['conf.xml', makeConf({ levels: MERCATOR_LEVELS.slice(0, 3) })],
      ...[...makeBundles(tiles)].map(([name, data]) => [`_alllayers/${name}`, data] as const),
    ])
    const info = execFileSync('gdalinfo', [path.join(folder, 'conf.xml')], { encoding: 'utf8' })
    expect(info).toContain('Size is 1024, 1024')
    const pixel = (x: number, y: number) =>
      execFileSync('gdallocationinfo', ['-valonly', path.join(folder, 'conf.xml'), `${x}`, `${y}`], {
        encoding: 'utf8',
      })
        .trim()
        .split(/\s+/)
        .slice(0, 3)
        .map(Number)
    expect(pixel(256 + 128, 128)).toEqual([80, 30, 0])
    expect(pixel(768 + 128, 512 + 128)).toEqual([80, 90, 60])
  })

  test('levels become zooms by their scales, and other levels are listed with their numbers', async () => {
    const tiles = await pyramid(5)
    const odd = { level: 9, resolution: 100 }
    writeFiles(at('shifted'), [
      [
        'conf.xml',
        makeConf({ levels: [...MERCATOR_LEVELS.slice(0, 3).map((one) => ({ ...one, level: one.level + 5 })), odd] }),
      ],
      ...[...makeBundles([...tiles, { level: 9, row: 0, column: 0, data: tiles[0]!.data }])].map(
        ([name, data]) => [`_alllayers/${name}`, data] as const,
      ),
    ])
    const probe = await probeTileSet(root, at('shifted'))
    expect(probe).toMatchObject({ minZoom: 0, maxZoom: 2, warnings: [expect.stringContaining('100 units per pixel')] })
    const source = await open('shifted', 'esri_compact')
    expect((await bytesOf(await source.tile({ z: 2, x: 3, y: 2 })))?.equals(tiles.at(-1)!.data)).toBe(true)
    source.close()
  })

  test('a geographic cache in CGCS2000 gets that grid', async () => {
    const levels = Array.from({ length: 4 }, (_, i) => ({ level: i + 1, resolution: 0.70312500000000011 / 2 ** i }))
    const data = await picture(0, 1, 0)
    writeFiles(at('cgcs'), [
      ['conf.xml', makeConf({ wkid: 4490, origin: [-180, 90], levels })],
      ...[...makeBundles([{ level: 1, row: 0, column: 1, data }])].map(([name, bytes]) => [name, bytes] as const),
    ])
    expect(await probeTileSet(root, at('cgcs'))).toMatchObject({
      tileMatrixSet: 'CGCS2000Quad',
      minZoom: 0,
      maxZoom: 0,
    })
    expect(await addressesOf('cgcs', 'esri_compact', 0)).toEqual(['1/0'])
  })

  test.each([
    ['another origin', { origin: [-5120900, 9998100] as const, levels: MERCATOR_LEVELS }, /origin -5120900, 9998100/],
    ['other scales', { levels: [{ level: 0, resolution: 132.291931 }] }, /132\.291931 units per pixel/],
    ['another system', { wkid: 2326, levels: MERCATOR_LEVELS }, /2326/],
    [
      'version 1',
      { levels: MERCATOR_LEVELS, storage: 'esriMapCacheStorageModeCompact' },
      /\.bundlx.*Export Tile Cache/,
    ],
    ['elevations', { levels: MERCATOR_LEVELS, format: 'LERC' }, /LERC/],
  ])('a cache of %s is refused with its numbers or name', async (name, scheme, message) => {
    writeFiles(at(`refused ${name}`), [
      ['conf.xml', makeConf(scheme)],
      ['_alllayers/L00/R0000C0000.bundle', 'x'],
    ])
    const probing = probeTileSet(root, at(`refused ${name}`))
    await expect(probing).rejects.toThrow(BrokenArchiveError)
    await expect(probing).rejects.toThrow(message)
  })

  test('a compact cache of version 1 is also recognized by its index', async () => {
    const folder = at('v1')
    writeFiles(folder, [
      ['conf.xml', makeConf({ levels: MERCATOR_LEVELS })],
      ['_alllayers/L00/R0000C0000.bundle', 'x'],
      ['_alllayers/L00/R0000C0000.bundlx', 'x'],
    ])
    await expect(probeTileSet(root, folder)).rejects.toThrow(/bundlx/)
  })

  test('an exploded cache is read tile by tile, by the levels of its description', async () => {
    const tiles = await pyramid(3)
    const levels = MERCATOR_LEVELS.map((one) => ({ ...one, level: one.level + 3 }))
    writeFiles(at('exploded'), [
      ['Layers/conf.xml', makeConf({ levels, storage: 'esriMapCacheStorageModeExploded' })],
      ...tiles.map(
        ({ level, column, row, data }) =>
          [`Layers/_alllayers/${FOLDER_LAYOUTS.arcgis.write({ z: level, x: column, y: row })}.png`, data] as const,
      ),
    ])
    expect(await probeTileSet(root, at('exploded'))).toMatchObject({
      storage: 'esri_exploded',
      minZoom: 0,
      maxZoom: 2,
      extension: 'png',
    })
    const source = await open('exploded', 'esri_exploded')
    expect((await bytesOf(await source.tile({ z: 2, x: 3, y: 2 })))?.equals(tiles.at(-1)!.data)).toBe(true)
    expect(await source.tile({ z: 2, x: 2, y: 2 })).toBeNull()
    source.close()
    expect(await addressesOf('exploded', 'esri_exploded', 2)).toEqual(['1/0', '3/2'])
  })

  test('a tile package is read in place, and one with compressed bundles is refused with its name', async () => {
    const tiles = await pyramid()
    const files = [
      ['root.json', makeRoot({ levels: MERCATOR_LEVELS })] as const,
      ...[...makeBundles(tiles)].map(([name, data]) => [`tile/${name}`, data] as const),
    ]
    fs.writeFileSync(at('good.tpkx'), makeZip(files, ['root.json']))
    expect(await probeTileSet(root, at('good.tpkx'))).toMatchObject({
      storage: 'tpkx',
      format: 'png',
      minZoom: 0,
      maxZoom: 2,
      name: 'A package',
      attribution: 'Somebody',
    })
    const source = await open('good.tpkx', 'tpkx')
    for (const { level, column, row, data } of tiles)
      expect((await bytesOf(await source.tile({ z: level, x: column, y: row })))?.equals(data)).toBe(true)
    source.close()
    fs.writeFileSync(at('packed.tpkx'), makeZip(files, ['tile/L02/R0000C0000.bundle']))
    await expect(probeTileSet(root, at('packed.tpkx'))).rejects.toThrow(/"tile\/L02\/R0000C0000\.bundle" is compressed/)
  })

  test('a vector tile package has tiles of 512 pixels, compressed as they are', async () => {
    const data = gzipSync(Buffer.from([0x1a, 0x02, 0x0a, 0x00]))
    const levels = MERCATOR_LEVELS.map(({ level, resolution }) => ({ level, resolution: resolution / 2 }))
    const files = [
      ['p12/root.json', makeRoot({ levels, side: 512, format: 'pbf' })] as const,
      ...[...makeBundles([{ level: 1, row: 1, column: 0, data }])].map(
        ([name, bytes]) => [`p12/tile/${name}`, bytes] as const,
      ),
    ]
    fs.writeFileSync(at('streets.vtpk'), makeZip(files))
    expect(await probeTileSet(root, at('streets.vtpk'))).toMatchObject({
      storage: 'vtpk',
      format: 'pbf',
      tileSize: 512,
      encoding: 'gzip',
      minZoom: 1,
      maxZoom: 1,
    })
    const source = await open('streets.vtpk', 'vtpk', { format: 'pbf' })
    const tile = await source.tile({ z: 1, x: 0, y: 1 })
    expect(tile).toMatchObject({ encoding: 'gzip' })
    expect((await bytesOf(tile))?.equals(data)).toBe(true)
    source.close()
  })

  test('a scan of a cache reads one bundle of its deepest and one of its highest zoom', async () => {
    const tiles = await pyramid()
    const folder = at('many')
    writeFiles(folder, [
      ['conf.xml', makeConf({ levels: MERCATOR_LEVELS })],
      ...[...makeBundles(tiles)].map(([name, data]) => [`_alllayers/${name}`, data] as const),
    ])
    // Invalid bundles do no harm, since they are not read.
    for (let i = 0; i < 1_000; i++)
      writeFiles(folder, [
        [
          `_alllayers/L14/R${(Math.floor(i / 32) * 128).toString(16).padStart(4, '0')}C${((i % 32) * 128).toString(16).padStart(4, '0')}.bundle`,
          'x',
        ],
      ])
    writeFiles(folder, [
      [
        `_alllayers/L14/R0000C0000.bundle`,
        [...makeBundles([{ level: 14, row: 0, column: 0, data: tiles[0]!.data }])][0]![1],
      ],
    ])
    const probe = await probeTileSet(root, folder)
    expect(probe).toMatchObject({ minZoom: 0, maxZoom: 14 })
    fs.utimesSync(path.join(folder, '_alllayers/L14/R0080C0080.bundle'), 1, 1)
    expect((await probeTileSet(root, folder))?.fingerprint).not.toBe(probe?.fingerprint)
    const source = await open('many', 'esri_compact')
    await expect(source.tile({ z: 14, x: 128, y: 128 })).rejects.toThrow(BrokenArchiveError)
    source.close()
  })
})

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

describe('files made by GDAL', () => {
  const gdal = (command: string, ...args: string[]) => execFileSync(command, ['-q', ...args], { stdio: 'pipe' })
  beforeAll(() => {
    // An image of 16 tiles of zoom 4 in the middle of the world, in colours that depend on the position.
    const width = 1024
    const rows = Array.from({ length: width }, (_, y) =>
      Buffer.from(Array.from({ length: width }, (_, x) => grey(x, y))),
    )
    fs.writeFileSync(at('image.pgm'), Buffer.concat([Buffer.from(`P5 ${width} ${width} 255\n`), ...rows]))
    const half = 2 * (40075016.68557849 / 16)
    const corner = ['-a_srs', 'EPSG:3857', '-a_ullr', `${-half}`, `${half}`, `${half}`, `${-half}`]
    gdal('gdal_translate', '-b', '1', '-b', '1', '-b', '1', ...corner, at('image.pgm'), at('source.tif'))
    fs.renameSync(at('source.tif'), at('source.bin'))
  }, 60_000)

  const grey = (x: number, y: number) => ((x >> 2) + (y >> 3)) & 0xff
  /** Returns the pixels of a tile by its upper left corner in the image. */
  const part = (left: number, top: number) =>
    Buffer.from(
      Array.from({ length: 256 * 256 * 3 }, (_, i) =>
        grey(left + (Math.floor(i / 3) % 256), top + Math.floor(i / 768)),
      ),
    )
  const pixels = (data: Buffer) => sharp(data).removeAlpha().raw().toBuffer()

  test('tables of tiles in a GeoPackage are listed, and their tiles have the zooms of their matrices', async () => {
    gdal(
      'gdal_translate',
      '-of',
      'GPKG',
      '-co',
      'TILING_SCHEME=GoogleMapsCompatible',
      '-co',
      'TILE_FORMAT=PNG',
      '-co',
      'RASTER_TABLE=one',
      at('source.bin'),
      at('two.gpkg'),
    )
    gdal(
      'gdal_translate',
      '-of',
      'GPKG',
      '-co',
      'TILING_SCHEME=GoogleMapsCompatible',
      '-co',
      'TILE_FORMAT=JPEG',
      '-co',
      'RASTER_TABLE=another',
      '-co',
      'APPEND_SUBDATASET=YES',
      at('source.bin'),
      at('two.gpkg'),
    )
    expect([...(listTileTables(root, at('two.gpkg')) ?? [])].sort()).toEqual(['another', 'one'])
    expect(await probeTileSet(root, at('two.gpkg/one'))).toMatchObject({
      storage: 'geopackage',
      format: 'png',
      tileSize: 256,
      minZoom: 4,
      maxZoom: 4,
    })
    expect(await probeTileSet(root, at('two.gpkg/another'))).toMatchObject({ format: 'jpg' })
    await expect(probeTileSet(root, at('two.gpkg'))).rejects.toThrow(/several tables/)
    expect(await addressesOf('two.gpkg/one', 'geopackage', 4)).toHaveLength(16)
    const opening = openMbtiles(root, at('two.gpkg/one'))
    if (!opening.ok) throw new Error(opening.reason)
    const tile = opening.archive.tile(4, 6, 7)
    opening.archive.close()
    const expected = part(0, 256)
    expect((await pixels(Buffer.from(tile!))).equals(expected)).toBe(true)
    const source = await open('two.gpkg/one', 'geopackage')
    expect((await bytesOf(await source.tile({ z: 4, x: 6, y: 7 })))?.equals(Buffer.from(tile!))).toBe(true)
    expect(await source.tile({ z: 4, x: 0, y: 0 })).toBeNull()
    source.close()
  }, 60_000)

  test('a matrix set that starts inside the world is shifted into place, and one with other scales is refused with its numbers', async () => {
    const rows = (sql: string) =>
      execFileSync('python3', [
        '-c',
        `import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.executescript(sys.argv[2])\nc.commit()`,
        at('moved.gpkg'),
        sql,
      ])
    gdal(
      'gdal_translate',
      '-of',
      'GPKG',
      '-co',
      'TILING_SCHEME=GoogleMapsCompatible',
      '-co',
      'TILE_FORMAT=PNG',
      at('source.bin'),
      at('moved.gpkg'),
    )
    const table = listTileTables(root, at('moved.gpkg'))![0]!
    rows(`DELETE FROM gpkg_tile_matrix WHERE zoom_level < 1;
      UPDATE gpkg_tile_matrix_set SET min_x = 0, max_x = 20037508.342789244, min_y = -20037508.342789244, max_y = 0;
      UPDATE gpkg_tile_matrix SET matrix_width = matrix_width / 2, matrix_height = matrix_height / 2;`)
    const source = await open(`moved.gpkg/${table}`, 'geopackage')
    expect(await bytesOf(await source.tile({ z: 4, x: 14, y: 15 }))).not.toBeNull()
    source.close()
    rows('UPDATE gpkg_tile_matrix_set SET max_x = 19000000')
    await expect(probeTileSet(root, at(`moved.gpkg/${table}`))).rejects.toThrow(
      /are not those of WebMercatorQuad: level \d+ \(origin 0, 0/,
    )
  }, 60_000)

  test.each([
    ['JPEG', 'jpg'],
    ['WEBP', 'webp'],
  ] as const)(
    'a COG of %s tiles on the grid is served as it is, overviews as lower zooms',
    async (compress, format) => {
      const name = `cog-${compress}.tif`
      const options = [
        'TILING_SCHEME=GoogleMapsCompatible',
        `COMPRESS=${compress}`,
        'QUALITY=95',
        'ADD_ALPHA=NO',
        'ALIGNED_LEVELS=3',
        'OVERVIEWS=AUTO',
      ]
      gdal('gdal_translate', '-of', 'COG', ...options.flatMap((one) => ['-co', one]), at('source.bin'), at(name))
      const probe = await probeTileSet(root, at(name))
      expect(probe).toMatchObject({
        storage: 'cog',
        format,
        tileSize: 256,
        maxZoom: 4,
        tileMatrixSet: 'WebMercatorQuad',
      })
      expect(probe?.minZoom).toBeLessThan(4)
      const source = await open(name, 'cog', { format })
      const decoded = await pixels((await bytesOf(await source.tile({ z: 4, x: 7, y: 8 })))!)
      const expected = part(256, 512)
      const off = decoded.reduce((sum, value, i) => sum + Math.abs(value - expected[i]!), 0) / decoded.length
      expect(off).toBeLessThan(12)
      expect(await bytesOf(await source.tile({ z: 3, x: 3, y: 4 }))).not.toBeNull()
      expect(await source.tile({ z: 4, x: 0, y: 0 })).toBeNull()
      source.close()
      expect(await addressesOf(name, 'cog', 4, { format })).toContain('7/8')
    },
    60_000,
  )

  test.each([
    ['plain.tif', ['-of', 'GTiff'], /not tiled/],
    [
      'deflate.tif',
      ['-of', 'COG', '-co', 'TILING_SCHEME=GoogleMapsCompatible', '-co', 'COMPRESS=DEFLATE'],
      /neither JPEG nor WebP/,
    ],
    [
      'off.tif',
      ['-of', 'COG', '-a_ullr', '0', '1000000', '1000000', '0', '-co', 'COMPRESS=JPEG'],
      /are not those of WebMercatorQuad: origin/,
    ],
  ])(
    '%s is refused with the reason',
    async (name, options, message) => {
      gdal('gdal_translate', ...options, at('source.bin'), at(name))
      await expect(probeTileSet(root, at(name))).rejects.toThrow(message)
    },
    60_000,
  )
})
