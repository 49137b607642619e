import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BrokenArchiveError } from '../broken-archive.js'
import { FOLDER_LAYOUTS } from '../layouts/layout.js'
import { probeTileSet } from '../probe.js'
import {
  MERCATOR_LEVELS,
  makeBundles,
  makeConf,
  makeEnvelope,
  makeRoot,
  makeZip,
  writeFiles,
} from '../testing/esri-caches.js'
import { bytesOf, picture, pyramid, setsIn } from '../testing/listed-tiles.js'

let root: string
beforeAll(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'esri-')))
})
afterAll(() => fs.rmSync(root, { recursive: true }))

const { at, open, addressesOf } = setsIn(() => root)

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

  test('bundles whose names have capital or further digits, which nothing opens, are named in a warning', async () => {
    const bundles = [...makeBundles(await pyramid())]
    writeFiles(at('capitals'), [
      ['conf.xml', makeConf({ levels: MERCATOR_LEVELS })],
      ...bundles.map(([name, data]) => [`_alllayers/${name}`, data] as const),
      ['_alllayers/L02/R0A00C0080.bundle', bundles[0]![1]],
      ['_alllayers/L02/R00000080C00000000.bundle', bundles[0]![1]],
    ])
    expect((await probeTileSet(root, at('capitals')))?.warnings).toEqual([
      expect.stringMatching(/^2 bundles or rows are not served, such as R0[\dA]+C[\d]+\.bundle: write their numbers/),
    ])
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
    const layers = ['roads', 'roads', null, 'water'].map((layer, i) => ({ id: `l${i}`, 'source-layer': layer }))
    const style = ['p12/resources/styles/root.json', Buffer.from(JSON.stringify({ version: 8, layers }))] as const
    fs.writeFileSync(at('styled.vtpk'), makeZip([...files, style]))
    expect((await probeTileSet(root, at('styled.vtpk')))?.vectorLayers).toEqual([{ id: 'roads' }, { id: 'water' }])
    fs.writeFileSync(at('unreadable.vtpk'), makeZip([...files, [style[0], Buffer.from('{')]]))
    expect((await probeTileSet(root, at('unreadable.vtpk')))?.vectorLayers).toBeNull()
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

describe('hostile caches', () => {
  const LEVELS = makeConf({ levels: MERCATOR_LEVELS })
  const bundles = (tiles: Awaited<ReturnType<typeof pyramid>>, prefix: string) =>
    [...makeBundles(tiles)].map(([name, data]) => [prefix + name, data] as const)
  const rootJson = ['root.json', makeRoot({ levels: MERCATOR_LEVELS })] as const

  test.each(['conf.xml', 'root.json'])(
    'tiles in plain folders are served although a foreign %s is damaged',
    async (name) => {
      const folder = at(`foreign-${name}`)
      fs.mkdirSync(path.join(folder, '0/0'), { recursive: true })
      fs.writeFileSync(path.join(folder, '0/0/0.png'), await picture(0, 0, 0))
      fs.writeFileSync(path.join(folder, name), '<<<')
      const probe = await probeTileSet(root, folder)
      expect([probe?.storage, probe?.warnings.at(-1)]).toEqual(['xyz', expect.stringContaining(`${name} is not`)])
    },
  )

  test('entities of a description are not expanded, and one of 100 MB is not read', async () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "${'A'.repeat(1000)}">${Array.from({ length: 20 }, (_, i) => `<!ENTITY b${i} "${(i === 0 ? '&a;' : `&b${i - 1};`).repeat(10)}">`).join('')}]>`
    writeFiles(at('bomb'), [
      ['conf.xml', LEVELS.replace('?>', `?>${bomb}`).replace('<CacheTileFormat>PNG', '<CacheTileFormat>&b19;')],
      ...bundles(await pyramid(), '_alllayers/'),
    ])
    const before = process.memoryUsage().rss
    const outcome = await probeTileSet(root, at('bomb')).catch((error: unknown) => error)
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(BrokenArchiveError)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
    writeFiles(at('huge'), [['conf.xml', LEVELS]])
    fs.truncateSync(at('huge/conf.xml'), 100 * 1024 * 1024)
    await expect(probeTileSet(root, at('huge'))).rejects.toThrow(/conf.xml is larger than allowed/)
  })

  test('a package with two entries of one name, with names that lead out of it, or with a false directory is refused', async () => {
    const files = [rootJson, ...bundles(await pyramid(), 'tile/')]
    const [, bundle] = files
    fs.writeFileSync(at('twice.tpkx'), makeZip([...files, bundle!]))
    await expect(probeTileSet(root, at('twice.tpkx'))).rejects.toThrow(/two entries/)
    fs.writeFileSync(at('out.tpkx'), makeZip([...files, ['../../etc/passwd', 'x']]))
    await expect(probeTileSet(root, at('out.tpkx'))).rejects.toThrow(BrokenArchiveError)
    const zip = makeZip(files)
    const directory = zip.indexOf('PK\x01\x02', 0, 'latin1')
    // The local header of each entry: first a place within the archive that has none, then one beyond its end.
    for (const offset of [1, 2 ** 31]) {
      const lying = Buffer.from(zip)
      for (let entry = directory; entry >= 0; entry = lying.indexOf('PK\x01\x02', entry + 1, 'latin1'))
        lying.writeUInt32LE(offset, entry + 42)
      fs.writeFileSync(at('lying.tpkx'), lying)
      await expect(probeTileSet(root, at('lying.tpkx'))).rejects.toThrow(BrokenArchiveError)
    }
  })

  test('a package whose directory is that of a large zip is read', async () => {
    const tiles = await pyramid()
    fs.writeFileSync(at('zip64.tpkx'), asZip64(makeZip([rootJson, ...bundles(tiles, 'tile/')])))
    const source = await open('zip64.tpkx', 'tpkx')
    expect((await bytesOf(await source.tile({ z: 2, x: 3, y: 2 })))?.equals(tiles.at(-1)!.data)).toBe(true)
    source.close()
  })

  test('records that overlap are served, and one beyond the end of its bundle is an error', async () => {
    const tiles = await pyramid()
    const made = bundles(tiles, '_alllayers/')
    const deepest = made.find(([name]) => name.includes('L02'))![1]
    const record = (x: number, y: number) => 64 + (y * 128 + x) * 8
    deepest.copy(deepest, record(0, 0), record(1, 0), record(1, 0) + 8)
    deepest.writeUIntLE(2 ** 40 - 1, record(2, 2), 5)
    deepest.writeUIntLE(9, record(2, 2) + 5, 3)
    writeFiles(at('records'), [['conf.xml', LEVELS], ...made])
    const source = await open('records', 'esri_compact')
    const shared = await bytesOf(await source.tile({ z: 2, x: 1, y: 0 }))
    expect(await bytesOf(await source.tile({ z: 2, x: 0, y: 0 }))).toEqual(shared)
    await expect(source.tile({ z: 2, x: 2, y: 2 })).rejects.toThrow(BrokenArchiveError)
    source.close()
  })

  test('a link out of the folder of the source leads nowhere', async () => {
    const outside = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'esri-outside-')))
    const made = bundles(await pyramid(), '_alllayers/')
    writeFiles(outside, made)
    writeFiles(at('linked'), [['conf.xml', LEVELS], made.find(([name]) => name.includes('L00'))!])
    fs.symlinkSync(path.join(outside, '_alllayers/L02'), at('linked/_alllayers/L02'))
    const source = await open('linked', 'esri_compact')
    expect(await bytesOf(await source.tile({ z: 0, x: 0, y: 0 }))).not.toBeNull()
    expect(await source.tile({ z: 2, x: 3, y: 2 })).toBeNull()
    source.close()
    fs.rmSync(outside, { recursive: true })
  })

  test('a cache in a folder with a Chinese name is found, and its folder of tiles in any case', async () => {
    const tiles = await pyramid()
    writeFiles(at('影像/Layers'), [['conf.xml', LEVELS], ...bundles(tiles, '_AllLayers/')])
    expect(await probeTileSet(root, at('影像'))).toMatchObject({ storage: 'esri_compact', maxZoom: 2 })
    const source = await open('影像', 'esri_compact')
    expect((await bytesOf(await source.tile({ z: 2, x: 3, y: 2 })))?.equals(tiles.at(-1)!.data)).toBe(true)
    expect(source.layout?.()).toMatchObject({ kind: 'bundles', folder: at('影像/Layers/_AllLayers') })
    source.close()
  })
})

/** Moves the numbers of the end of a zip into the records of a zip of more than 4 GiB (APPNOTE 4.3.14 and 4.3.15). */
function asZip64(zip: Buffer): Buffer {
  const end = zip.subarray(-22)
  const [count, size, offset] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)]
  const record = Buffer.alloc(56)
  record.write('PK\x06\x06', 'latin1')
  record.writeBigUInt64LE(44n, 4)
  record.writeUInt16LE(45, 12)
  record.writeUInt16LE(45, 14)
  for (const [i, value] of [count, count, size, offset].entries()) record.writeBigUInt64LE(BigInt(value), 24 + i * 8)
  const locator = Buffer.alloc(20)
  locator.write('PK\x06\x07', 'latin1')
  locator.writeBigUInt64LE(BigInt(zip.length - 22), 8)
  locator.writeUInt32LE(1, 16)
  const last = Buffer.from(end)
  last.fill(0xff, 8, 20)
  return Buffer.concat([zip.subarray(0, -22), record, locator, last])
}
