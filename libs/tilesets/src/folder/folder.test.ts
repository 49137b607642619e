import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { probeTileSet } from '../probe.js'
import { type CachedReader, SMALL_BYTES, type SourceSpec, type Tile } from '../source.js'
import { ALL_CACHED, NOTHING_CACHED, servedFrom } from '../testing/served-from.js'
import { openColumn } from './column.js'
import { openFolder } from './source.js'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
)

const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex')

let base: string
let root: string
let folder: string
beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'tiles-'))
  root = path.join(base, 'source')
  folder = path.join(root, 'code', 'v1')
  fs.mkdirSync(folder, { recursive: true })
})
afterEach(() => fs.rmSync(base, { recursive: true }))

function put(name: string, content: string | Buffer = PNG): void {
  fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  fs.writeFileSync(path.join(folder, name), content)
}
const json = (value: unknown) => JSON.stringify(value)
const probe = () => probeTileSet(root, folder)

describe('a probe of a folder', () => {
  it('derives facts from the folders if no metadata has them', async () => {
    put('3/4/2.png')
    put('4/8/5.png')
    put('4/9/5.png')
    expect(await probe()).toEqual({
      storage: 'xyz',
      rowsFromNorth: false,
      rowsAssumed: true,
      extents: { xyz: expect.any(Array), tms: expect.any(Array) },
      rowsSaid: null,
      format: 'png',
      formats: null,
      tileSize: 1,
      minZoom: 3,
      maxZoom: 4,
      bounds: [0, expect.closeTo(40.98, 2), 45, expect.closeTo(55.78, 2)],
      boundsDerived: true,
      name: null,
      attribution: null,
      description: null,
      vectorLayers: null,
      tileMatrixSet: 'WebMercatorQuad',
      metadata: {},
      extension: 'png',
      encoding: 'identity',
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      warnings: [],
    })
  })

  it('reads gdal2tiles’ metadata of a geographic grid, to the last column', async () => {
    put('1/0/0.png')
    put('1/3/1.png')
    put('1/4/0.png')
    put(
      'tilemapresource.xml',
      '<TileMap version="1.0.0"><SRS>EPSG:4326</SRS><TileSets profile="geodetic"></TileSets></TileMap>',
    )
    expect(await probe()).toMatchObject({
      storage: 'tms',
      tileMatrixSet: 'WorldCRS84Quad',
      bounds: [-180, -90, 180, 90],
    })
  })

  it('recognizes a geographic folder of gdal2tiles whose zoom 0 is one tile, and refuses it', async () => {
    const resource = `<TileMap version="1.0.0" tilemapservice="http://tms.osgeo.org/1.0.0">
      <SRS>EPSG:4326</SRS>
      <BoundingBox minx="0.00000000000000" miny="-22.50000000000000" maxx="90.00000000000000" maxy="45.00000000000000"/>
      <TileSets profile="geodetic"><TileSet href="3" units-per-pixel="0.70312500000000" order="0"/></TileSets></TileMap>`
    // Tiles of 22.5 degrees: columns 8 to 11, rows 3 to 5 from the south.
    for (const y of [3, 4, 5]) for (const x of [8, 9, 10, 11]) put(`3/${x}/${y}.png`)
    put('tilemapresource.xml', resource)
    expect(await probe()).toMatchObject({ tileMatrixSet: 'WorldCRS84Quad', bounds: [0, -22.5, 90, 45] })
    fs.rmSync(path.join(folder, '3'), { recursive: true })
    // Tiles of 45 degrees: columns 4 and 5, rows 1 and 2.
    for (const y of [1, 2]) for (const x of [4, 5]) put(`3/${x}/${y}.png`)
    await expect(probe()).rejects.toThrow('--tmscompatible')
    // The remedy that the message names.
    fs.renameSync(path.join(folder, '3'), path.join(folder, '2'))
    expect(await probe()).toMatchObject({ minZoom: 2, bounds: [0, -22.5, 90, 45] })
  })

  it('refuses another grid by its name', async () => {
    put('0/0/0.png')
    put('tilejson.json', json({ crs: 'EPSG:32650' }))
    await expect(probe()).rejects.toThrow('its tiles are in EPSG:32650')
  })

  it('passes on further fields of the metadata', async () => {
    put('0/0/0.png')
    put('tilejson.json', json({ name: 'A', encoding: 'terrarium', fillzoom: 3, tiles: ['x'] }))
    expect(await probe()).toMatchObject({ name: 'A', metadata: { encoding: 'terrarium', fillzoom: 3 } })
  })

  it('prefers tilejson.json to metadata.json, field by field', async () => {
    put('0/0/0.jpeg', JPEG)
    put('metadata.json', json({ name: 'B', attribution: 'B', minzoom: '0', maxzoom: '0', bounds: '-1,-2,3,4' }))
    put('tilejson.json', `\uFEFF${json({ name: 'A' })}`)
    expect(await probe()).toMatchObject({
      name: 'A',
      attribution: 'B',
      bounds: [-1, -2, 3, 4],
      format: 'jpg',
      extension: 'jpeg',
    })
  })

  it('reports a broken metadata file as a warning', async () => {
    put('0/0/0.png')
    put('tilejson.json', '{"name": ')
    put('metadata.json', '[]')
    const found = await probe()
    expect(found).toMatchObject({ name: null, format: 'png' })
    expect(found?.warnings).toEqual([
      'tilejson.json is not valid JSON and is ignored',
      'metadata.json is not a JSON object and is ignored',
    ])
  })

  it('counts rows as the metadata or gdal2tiles declare', async () => {
    put('1/0/0.png')
    put('metadata.json', json({ scheme: 'tms' }))
    expect(await probe()).toMatchObject({ storage: 'tms', bounds: [-180, expect.closeTo(-85.05), 0, 0] })
    fs.rmSync(path.join(folder, 'metadata.json'))
    put('tilemapresource.xml', '<?xml version="1.0"?><TileMap version="1.0.0"></TileMap>')
    expect((await probe())?.storage).toBe('tms')
    put('tilejson.json', json({ scheme: 'xyz' }))
    expect((await probe())?.storage).toBe('xyz')
  })

  it('detects that vector tiles are gzipped', async () => {
    put('0/0/0.pbf', gzipSync('tile'))
    put('metadata.json', json({ json: json({ vector_layers: [{ id: 'a', fields: {} }] }) }))
    expect(await probe()).toMatchObject({
      format: 'pbf',
      tileSize: 512,
      encoding: 'gzip',
      vectorLayers: [{ id: 'a', fields: {} }],
    })
  })

  it('distinguishes the bounds of a city from those of the world overview above it', async () => {
    for (const tile of ['0/0/0', '1/0/0', '1/1/1', '5/16/10']) put(`${tile}.png`)
    expect((await probe())?.bounds).toEqual([-180, expect.closeTo(-85.05), 180, expect.closeTo(85.05)])
  })

  it('serves two image formats as one set, whose more frequent extension comes first', async () => {
    for (const tile of ['1/0/0.png', '1/0/1.png']) put(tile)
    put('1/1/0.jpg', JPEG)
    expect(await probe()).toMatchObject({ extension: 'png,jpg', formats: ['png', 'jpg'], warnings: [] })
    put('1/1/1.pbf', 'x')
    expect((await probe())?.warnings).toEqual(['only .png, .jpg is served; there is also .pbf'])
    put('metadata.json', json({ format: 'jpg' }))
    expect((await probe())?.extension).toBe('jpg,png')
  })

  it('finds all files of a set with two extensions whose bytes have one format', async () => {
    for (const tile of ['1/0/0.png', '1/0/1.png', '1/1/0.jpg']) put(tile)
    expect(await probe()).toMatchObject({ extension: 'png,jpg', formats: ['png', 'jpg'], warnings: [] })
  })

  it.each([
    [['jpeg', 'jpg'], PNG],
    [['pbf', 'mvt'], '\x1a\x05\x78\x02'],
    [['png', 'PNG', 'JPG'], PNG],
  ])('serves every file of a set with the extensions %s', async (extensions, data) => {
    const tiles = [...extensions.map((extension, x) => `2/${x}/1.${extension}`), `2/3/1.${extensions[0]}`]
    for (const tile of tiles) put(tile, data)
    const found = await probe()
    expect(found?.extension).toMatch(`${extensions[0]},`)
    const { format, formats = null, extension } = found as NonNullable<typeof found>
    const spec = servedFrom(root, folder, 'xyz', { format, formats, extension })
    const set = await openFolder(spec, ALL_CACHED)
    for (const x of extensions.keys()) expect(await set.tile({ z: 2, x, y: 1 })).not.toBeNull()
    expect(openColumn(spec, 2, 1)?.rows).toEqual([1])
    set.close()
  })

  it.each([
    ['from the north', (_z: number, y: number) => y, true],
    ['from the south', (z: number, y: number) => 2 ** z - 1 - y, false],
  ])('is {z}/{y}/{x} with rows %s if only then its bounds contain its tiles', async (_, rowOf, rowsFromNorth) => {
    for (const x of [20, 21, 22]) for (const y of [3, 4]) put(`5/${rowOf(5, y)}/${x}.png`)
    put('metadata.json', json({ bounds: [46, 76, 78, 83] }))
    expect(await probe()).toMatchObject({
      storage: 'zyx',
      rowsFromNorth,
      bounds: [46, 76, 78, 83],
      warnings: [
        expect.stringContaining('its folders are {z}/{y}/{x}: the bounds of the metadata contain the tiles only'),
      ],
    })
    put('metadata.json', json({ bounds: [-100, -50, -90, -40] }))
    expect(await probe()).toMatchObject({ storage: 'xyz', warnings: [expect.stringContaining('contain no tile')] })
  })

  it.each([
    ['nothing', () => {}],
    ['metadata alone', () => put('tilejson.json', '{}')],
    ['empty zoom folders', () => fs.mkdirSync(path.join(folder, '3/4'), { recursive: true })],
    ['versions and not zooms', () => put('1/2/3/4.png')],
    [
      'what is no tile',
      () => {
        for (const name of ['0/0/readme.txt', '0/0/00.png', '0/0/1.png', '31/0/0.png', '0/0/.0.png.tmp']) put(name)
      },
    ],
  ])('finds nothing to serve in %s', async (_what, make) => {
    make()
    expect(await probe()).toBeNull()
  })

  it('follows no link out of the source', async () => {
    fs.mkdirSync(path.join(base, 'elsewhere/0/0'), { recursive: true })
    fs.writeFileSync(path.join(base, 'elsewhere/0/0/0.png'), PNG)
    fs.symlinkSync('../../../elsewhere/0', path.join(folder, '0'))
    expect(await probe()).toBeNull()
    fs.symlinkSync('../../elsewhere', path.join(root, 'code', 'v2'))
    expect(await probeTileSet(root, path.join(root, 'code', 'v2'))).toBeNull()
    fs.symlinkSync('v1', path.join(root, 'code', 'v3'))
    put('1/0/0.png')
    expect(await probeTileSet(root, path.join(root, 'code', 'v3'))).toMatchObject({ minZoom: 1, maxZoom: 1 })
  })

  it('has a fingerprint that changes only with tiles and metadata', async () => {
    put('2/0/0.png')
    const rewrite = () => {
      fs.writeFileSync(path.join(folder, '2/0/.new'), PNG)
      fs.renameSync(path.join(folder, '2/0/.new'), path.join(folder, '2/0/0.png'))
    }
    const changes = [
      () => put('2/0/1.png'),
      rewrite,
      () => put('tilejson.json', json({ name: 'A' })),
      () => put('2/1/0.png'),
    ]
    for (const change of changes) {
      // The file system has timestamps in milliseconds, so earlier changes must have an older time.
      for (const name of ['2', '2/0']) fs.utimesSync(path.join(folder, name), 1, 1)
      const before = (await probe())?.fingerprint
      expect((await probe())?.fingerprint).toBe(before)
      change()
      expect((await probe())?.fingerprint).not.toBe(before)
    }
  })
})

describe('a served folder', () => {
  const open = (more: Partial<SourceSpec> = {}, cached: CachedReader | null = ALL_CACHED) =>
    openFolder(servedFrom(root, folder, 'xyz', more), cached)
  const at = (z: number, x: number, y: number) => ({ z, x, y })
  /** Reads the same tile synchronously and asynchronously. */
  const both = async (place: ReturnType<typeof at>, more: Partial<SourceSpec> = {}): Promise<Tile | null> => {
    const source = await open(more)
    const [atOnce, waited] = [source.tileIfCached?.(place), await source.tile(place)]
    expect(partless(atOnce)).toEqual(partless(waited))
    return waited as Tile | null
  }

  it('returns the tile of an address, its row counted as stored', async () => {
    put('3/1/2.jpeg', 'from the north')
    put('3/1/5.jpeg', 'from the south')
    expect(await both(at(3, 1, 2), { extension: 'jpeg' })).toMatchObject({ body: Buffer.from('from the north') })
    const south = await both(at(3, 1, 2), { extension: 'jpeg', storage: 'tms' })
    const file = { root, path: `${folder}/3/1/5.jpeg`, identity: south?.identity }
    expect(south).toMatchObject({ body: Buffer.from('from the south'), encoding: 'identity', file })
    expect(await both(at(3, 1, 3), { extension: 'jpeg' })).toBeNull()
  })

  it('detects gzip by the bytes of each tile, small and large ones', async () => {
    const large = gzipSync(Buffer.from(Array.from({ length: 3 * SMALL_BYTES }, (_, i) => (i * i * 31) % 251)), {
      level: 0,
    })
    for (const extension of ['png', 'pbf']) {
      put(`0/0/0.${extension}`, gzipSync('a layer'))
      put(`1/0/0.${extension}`, large)
    }
    const encodings = async (format: 'png' | 'pbf') => {
      const tiles = [
        await both(at(0, 0, 0), { format, extension: format }),
        await both(at(1, 0, 0), { format, extension: format }),
      ]
      return tiles.map((tile) => tile?.encoding)
    }
    expect(await encodings('png')).toEqual(['gzip', 'gzip'])
    expect(await encodings('pbf')).toEqual(['gzip', 'gzip'])
  })

  it('has no tile in an empty file', async () => {
    put('0/0/0.png', '')
    expect(await both(at(0, 0, 0))).toBeNull()
  })

  it('finds the tiles of a set of two formats by either extension, each with its own format', async () => {
    put('1/0/0.png')
    put('1/1/0.jpeg', JPEG)
    const formats = ['png', 'jpg'] as const
    const found = [
      await both(at(1, 0, 0), { formats }),
      await both(at(1, 1, 0), { formats }),
      await both(at(1, 1, 1), { formats }),
    ]
    expect(found.map((tile) => tile?.format)).toEqual(['png', 'jpg', undefined])
  })

  it('returns a large tile open, and names the source of one that is on another machine', async () => {
    put('0/0/0.png', Buffer.alloc(SMALL_BYTES + 1))
    const part = async (more: Partial<SourceSpec>) => {
      const tile = await (await open(more)).tile(at(0, 0, 0))
      if (tile === null || tile === 'busy' || tile.body instanceof Uint8Array) throw new Error('not open')
      expect(fs.fstatSync(tile.body.fd).size).toBe(SMALL_BYTES + 1)
      tile.body.release()
      return { length: tile.body.length, remote: tile.body.remote, file: tile.file?.path }
    }
    expect(await part({})).toEqual({ length: SMALL_BYTES + 1, remote: undefined, file: path.join(folder, '0/0/0.png') })
    expect(await part({ isRemote: true })).toMatchObject({ remote: root })
  })

  it('serves nothing through a link that leads out of the source, and closes the opened file', async () => {
    fs.writeFileSync(path.join(base, 'small'), 'secret')
    fs.writeFileSync(path.join(base, 'large'), Buffer.alloc(SMALL_BYTES + 1))
    for (const [x, name] of ['small', 'large'].entries()) {
      fs.mkdirSync(path.join(folder, `1/${x}`), { recursive: true })
      fs.symlinkSync(path.join(base, name), path.join(folder, `1/${x}/0.png`))
    }
    const source = await open()
    const before = fs.readdirSync('/proc/self/fd').length
    for (const x of [0, 1]) {
      // Only an asynchronous read can notice that the root has changed.
      expect(source.tileIfCached?.(at(1, x, 0))).toBeUndefined()
      expect(await source.tile(at(1, x, 0))).toBeNull()
    }
    while (fs.readdirSync('/proc/self/fd').length > before) await new Promise(setImmediate)
  })

  it('follows a source that is a changed link, and does not return a folder as a tile', async () => {
    const alias = path.join(base, 'alias')
    fs.symlinkSync(root, alias)
    put('0/0/0.png', 'here')
    fs.cpSync(root, path.join(base, 'other'), { recursive: true })
    fs.writeFileSync(path.join(base, 'other/code/v1/0/0/0.png'), 'there')
    fs.mkdirSync(path.join(folder, '1/0/0.png'), { recursive: true })
    const source = await open({ root: alias, path: path.join(alias, 'code/v1') })
    expect(source.tileIfCached?.(at(0, 0, 0))).toMatchObject({ body: Buffer.from('here') })
    expect([source.tileIfCached?.(at(1, 0, 0)), await source.tile(at(1, 0, 0))]).toEqual([undefined, null])
    fs.unlinkSync(alias)
    fs.symlinkSync(path.join(base, 'other'), alias)
    expect(source.tileIfCached?.(at(0, 0, 0))).toBeUndefined()
    expect(await source.tile(at(0, 0, 0))).toMatchObject({ body: Buffer.from('there') })
  })

  it('returns nothing synchronously if nothing is in memory, or without a cached reader', async () => {
    put('0/0/0.png')
    for (const cached of [NOTHING_CACHED, null])
      expect((await open({}, cached)).tileIfCached?.(at(0, 0, 0))).toBeUndefined()
  })
})

/** Returns a tile without its descriptor, which is released. */
function partless(tile: Tile | null | undefined | 'busy') {
  if (!tile || tile === 'busy' || tile.body instanceof Uint8Array) return tile
  tile.body.release()
  return { ...tile, body: { offset: tile.body.offset, length: tile.body.length } }
}
