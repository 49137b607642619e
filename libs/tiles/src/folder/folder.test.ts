import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTileSet } from '../open.js'
import { probeTileSet } from '../probe.js'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
)

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
  it('tells by the folders what no metadata says', async () => {
    put('3/4/2.png')
    put('4/8/5.png')
    put('4/9/5.png')
    expect(await probe()).toEqual({
      storage: 'xyz',
      format: 'png',
      tileSize: 1,
      minZoom: 3,
      maxZoom: 4,
      bounds: [0, expect.closeTo(40.98, 2), 45, expect.closeTo(55.78, 2)],
      name: null,
      attribution: null,
      description: null,
      vectorLayers: null,
      extension: 'png',
      encoding: 'identity',
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      warnings: [],
    })
  })

  it('believes tilejson.json more than metadata.json, field by field', async () => {
    put('0/0/0.jpeg')
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

  it('takes a broken metadata file for a warning', async () => {
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

  it('counts rows as the metadata or gdal2tiles say', async () => {
    put('1/0/0.png')
    put('metadata.json', json({ scheme: 'tms' }))
    expect(await probe()).toMatchObject({ storage: 'tms', bounds: [-180, expect.closeTo(-85.05), 0, 0] })
    fs.rmSync(path.join(folder, 'metadata.json'))
    put('tilemapresource.xml', '<?xml version="1.0"?><TileMap version="1.0.0"></TileMap>')
    expect((await probe())?.storage).toBe('tms')
    put('tilejson.json', json({ scheme: 'xyz' }))
    expect((await probe())?.storage).toBe('xyz')
  })

  it('sees that vector tiles are gzipped', async () => {
    put('0/0/0.pbf', gzipSync('tile'))
    put('metadata.json', json({ json: json({ vector_layers: [{ id: 'a', fields: {} }] }) }))
    expect(await probe()).toMatchObject({
      format: 'pbf',
      tileSize: 512,
      encoding: 'gzip',
      vectorLayers: [{ id: 'a', fields: {} }],
    })
  })

  it('does not take bounds of a city for those of the world overview above it', async () => {
    for (const tile of ['0/0/0', '1/0/0', '1/1/1', '5/16/10']) put(`${tile}.png`)
    expect((await probe())?.bounds).toEqual([-180, expect.closeTo(-85.05), 180, expect.closeTo(85.05)])
  })

  it('serves the most frequent of several extensions and says so', async () => {
    for (const tile of ['1/0/0.png', '1/0/1.png', '1/1/0.jpg']) put(tile)
    expect(await probe()).toMatchObject({ extension: 'png', warnings: ['only .png is served; there is also .jpg'] })
    put('metadata.json', json({ format: 'jpg' }))
    expect((await probe())?.extension).toBe('jpg')
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

  it('has a fingerprint that changes with tiles and metadata, and only then', async () => {
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
      // The clock of a file system ticks in milliseconds: what happened before this change must lie behind it.
      for (const name of ['2', '2/0']) fs.utimesSync(path.join(folder, name), 1, 1)
      const before = (await probe())?.fingerprint
      expect((await probe())?.fingerprint).toBe(before)
      change()
      expect((await probe())?.fingerprint).not.toBe(before)
    }
  })
})

describe('a folder that is served', () => {
  const locate = async (storage: 'xyz' | 'tms') => {
    const opening = await openTileSet({ storage, root, path: folder, extension: 'jpeg' })
    if (!opening.ok) throw new Error(opening.reason)
    return opening.tileSet.locateLater(3, 1, 2)
  }
  it('names the file of a tile, its row counted as stored', async () => {
    expect(await locate('xyz')).toEqual({ kind: 'file', root, path: `${folder}/3/1/2.jpeg` })
    expect(await locate('tms')).toEqual({ kind: 'file', root, path: `${folder}/3/1/5.jpeg` })
  })
})
