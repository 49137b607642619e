import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { PMTiles, type RangeResponse } from 'pmtiles'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BrokenArchiveError } from '../broken-archive.js'
import { readExactly } from '../read-exactly.js'
import type { CachedReader, Source, Tile } from '../source.js'
import { ALL_CACHED, NOTHING_CACHED, servedFrom } from '../testing/served-from.js'
import type { PmtilesDescription, TileToWrite } from '../tile-to-write.js'
import { openArchive } from './archive.js'
import { probePmtiles } from './probe.js'
import { openPmtiles } from './source.js'
import { writePmtiles } from './writer.js'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
)
const ABOUT: PmtilesDescription = {
  format: 'png',
  encoding: 'identity',
  bounds: [-10, -20, 30, 40],
  metadata: { name: 'Test', attribution: 'Nobody', description: 'of tests' },
}

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pmtiles-'))
  file = path.join(folder, 'a.pmtiles')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

async function open(cached: CachedReader = ALL_CACHED): Promise<Source> {
  const source = await openPmtiles(servedFrom(folder, file, 'pmtiles'), cached)
  if (source === null) throw new Error('absent')
  return source
}

async function textOf(tile: Tile): Promise<string> {
  const { body } = tile
  if (body instanceof Uint8Array) return Buffer.from(body).toString('latin1')
  const bytes = await readExactly(body.fd, body.offset, body.length)
  body.release()
  return bytes.toString('latin1')
}

/** Reads every tile synchronously, and compares with asynchronous reads: all of a few tiles, some of many. */
async function readAll(tiles: readonly TileToWrite[]): Promise<(string | null)[]> {
  const [source, other] = [await open(), await open()]
  const texts: (string | null)[] = []
  for (const [i, { z, x, y }] of tiles.entries()) {
    const found = source.tileIfCached?.({ z, x, y })
    if (found === undefined) throw new Error('not in memory')
    if (i % Math.ceil(tiles.length / 1_000) === 0) expect(await other.tile({ z, x, y })).toEqual(found)
    texts.push(found === null ? null : await textOf(found))
  }
  source.close()
  other.close()
  return texts
}

/** The upstream reader, as a check of this project's writer. */
function upstream(): PMTiles {
  const bytes = fs.readFileSync(file)
  const getBytes = async (offset: number, length: number): Promise<RangeResponse> => ({
    data: Uint8Array.from(bytes.subarray(offset, offset + length)).buffer,
  })
  return new PMTiles({ getBytes, getKey: () => 'test' })
}

const tile = (z: number, x: number, y: number, text: string): TileToWrite => ({ z, x, y, data: Buffer.from(text) })

/** A whole zoom of distinct tiles, except for an ocean of equal tiles in the lower third. */
function wholeZoom(z: number): TileToWrite[] {
  const size = 2 ** z
  return Array.from({ length: size * size }, (_, i) => {
    const [x, y] = [i % size, Math.floor(i / size)]
    return tile(z, x, y, y > (size * 2) / 3 ? 'ocean' : `land ${x} ${y}`)
  })
}

describe('a round trip', () => {
  it('finds every tile again in any order of insertion, and no other', async () => {
    const address = fc
      .integer({ min: 0, max: 26 })
      .chain((z) => fc.tuple(fc.constant(z), fc.nat(2 ** z - 1), fc.nat(2 ** z - 1)))
    const addresses = fc.uniqueArray(address, { minLength: 1, maxLength: 40, selector: String })
    await fc.assert(
      fc.asyncProperty(
        addresses,
        fc.array(fc.constantFrom('a', 'bb', 'ccc'), { minLength: 40, maxLength: 40 }),
        async (list, texts) => {
          const tiles = list.map(([z, x, y], i) => tile(z, x, y, texts[i]!))
          await writePmtiles(file, tiles, ABOUT)
          expect(await readAll(tiles)).toEqual(tiles.map(({ data }) => Buffer.from(data).toString()))
          const written = new Set(list.map(String))
          const others = list
            .map(([z, x, y]) => tile(z, x ^ 1, y, ''))
            .filter(({ z, x, y }) => z > 0 && !written.has(String([z, x, y])))
          expect(await readAll(others)).toEqual(others.map(() => null))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('uses leaf directories for more than 20,000 tiles, and the upstream reader agrees', async () => {
    const tiles = wholeZoom(8)
    await writePmtiles(file, tiles, ABOUT)
    expect(await readAll(tiles)).toEqual(tiles.map(({ data }) => Buffer.from(data).toString()))
    const judge = upstream()
    const header = await judge.getHeader()
    expect(header.leafDirectoryLength).toBeGreaterThan(0)
    expect(header.numAddressedTiles).toBe(65_536)
    expect(header.numTileContents).toBe(new Set(tiles.map(({ data }) => String(data))).size)
    expect([header.minZoom, header.maxZoom, header.clustered, header.minLon, header.maxLat]).toEqual([
      8,
      8,
      true,
      -10,
      40,
    ])
    for (const { z, x, y, data } of tiles.filter((_, i) => i % 997 === 0)) {
      expect(Buffer.from((await judge.getZxy(z, x, y))!.data).toString()).toBe(String(data))
    }
    expect(await judge.getMetadata()).toEqual(ABOUT.metadata)
  })

  it('stores equal tiles once and gives them one identity', async () => {
    await writePmtiles(file, [tile(1, 0, 0, 'sea'), tile(1, 1, 0, 'land'), tile(1, 1, 1, 'sea')], ABOUT)
    const source = await open()
    const tileAt = (x: number, y: number) => source.tileIfCached?.({ z: 1, x, y })
    const [a, b, c] = [tileAt(0, 0), tileAt(1, 0), tileAt(1, 1)]
    source.close()
    expect(a).toEqual(c)
    expect(a).not.toEqual(b)
  })

  it('returns undefined if a directory or the tile is not in memory, and caches what was read once', async () => {
    await writePmtiles(file, wholeZoom(8), ABOUT)
    const sections: number[] = []
    const read = (fd: number, offset: number, length: number) => {
      sections.push(offset)
      return ALL_CACHED.read(fd, offset, length)
    }
    const place = { z: 8, x: 200, y: 100 }
    const cold = await open(NOTHING_CACHED)
    expect(cold.tileIfCached?.(place)).toBeUndefined()
    expect(cold.tileIfCached?.({ z: 3, x: 0, y: 0 })).toBeNull()
    cold.close()
    const source = await open({ ...NOTHING_CACHED, read })
    const found = await source.tile(place)
    expect(found).toMatchObject({ body: Buffer.from('land 200 100') })
    expect(source.tileIfCached?.(place)).toEqual(found)
    // Only the tile: its directory is cached since the asynchronous read.
    expect(sections).toHaveLength(1)
    source.close()
  })

  it('returns large tiles as a part of the file, which stays open only until they are released', async () => {
    await writePmtiles(file, [tile(0, 0, 0, 'x'.repeat(100_000))], ABOUT)
    const source = await open()
    const found = source.tileIfCached?.({ z: 0, x: 0, y: 0 })
    if (!found || found.body instanceof Uint8Array) throw new Error('not a part')
    const { fd } = found.body
    const isOpen = () => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${fd}`) === file
      } catch {
        return false
      }
    }
    source.close()
    expect(isOpen()).toBe(true)
    expect(await textOf(found)).toBe('x'.repeat(100_000))
    while (isOpen()) await new Promise(setImmediate)
  })

  it('refuses a duplicate address, and leaves nothing behind', async () => {
    await expect(writePmtiles(file, [tile(1, 0, 0, 'a'), tile(1, 0, 0, 'b')], ABOUT)).rejects.toThrow(
      '1/0/0 comes twice',
    )
    await expect(writePmtiles(file, [], ABOUT)).rejects.toThrow('at least one')
    expect(fs.readdirSync(folder)).toEqual([])
  })
})

describe('a probe', () => {
  const change = (offset: number, value: number) => {
    const bytes = fs.readFileSync(file)
    bytes[offset] = value
    fs.writeFileSync(file, bytes)
  }

  it('returns the facts of header, metadata and a tile', async () => {
    await writePmtiles(
      file,
      [
        { z: 3, x: 1, y: 1, data: PNG },
        { z: 5, x: 16, y: 15, data: PNG },
      ],
      ABOUT,
    )
    expect(await probePmtiles(folder, file)).toMatchObject({
      storage: 'pmtiles',
      format: 'png',
      extension: 'png',
      tileSize: 1,
      minZoom: 3,
      maxZoom: 5,
      bounds: [-10, -20, 30, 40],
      name: 'Test',
      attribution: 'Nobody',
      description: 'of tests',
      vectorLayers: null,
      metadata: { center: [10, 10, 3] },
      encoding: 'identity',
      warnings: [],
    })
  })

  it.each([
    ['gzip', 2, PNG, 'identity'],
    ['brotli', 3, PNG, 'identity'],
    ['none', 1, gzipSync(PNG), 'gzip'],
  ] as const)('believes the bytes of a tile if the header says %s', async (said, method, data, encoding) => {
    await writePmtiles(file, [{ z: 0, x: 0, y: 0, data }], ABOUT)
    change(98, method)
    const probe = await probePmtiles(folder, file)
    expect([probe?.encoding, probe?.warnings]).toEqual([
      encoding,
      expect.arrayContaining([expect.stringContaining(`compression of tiles is declared as ${said}`)]),
    ])
    const set = await open()
    expect(await set.tile({ z: 0, x: 0, y: 0 })).toMatchObject({ encoding, format: 'png' })
    set.close()
  })

  it('reads metadata that is not compressed as the header says, and Mapbox Vector Tiles of an unknown compression', async () => {
    const mvt = Buffer.from('1a057802', 'hex')
    await writePmtiles(file, [{ z: 0, x: 0, y: 0, data: mvt }], { ...ABOUT, format: 'pbf', encoding: 'identity' })
    const metadata = Buffer.from('{"name": "raw"}')
    const bytes = fs.readFileSync(file)
    const place = bytes.length
    fs.writeFileSync(file, Buffer.concat([bytes, metadata]))
    change(98, 0)
    const fd = fs.openSync(file, 'r+')
    const words = Buffer.alloc(16)
    words.writeBigUInt64LE(BigInt(place), 0)
    words.writeBigUInt64LE(BigInt(metadata.length), 8)
    fs.writeSync(fd, words, 0, 16, 24)
    fs.closeSync(fd)
    expect(await probePmtiles(folder, file)).toMatchObject({
      name: 'raw',
      format: 'pbf',
      encoding: 'identity',
      warnings: [],
    })
  })

  it('has tiles at zooms that the header leaves out', async () => {
    await writePmtiles(
      file,
      [0, 1, 2].map((z) => ({ z, x: 0, y: 0, data: PNG })),
      { ...ABOUT, bounds: [-180, -85, 180, 85] },
    )
    change(100, 1)
    change(101, 1)
    expect(await probePmtiles(folder, file)).toMatchObject({
      minZoom: 0,
      maxZoom: 2,
      bounds: [-180, -85, 180, 85],
      warnings: ['zooms 1-1 are declared, but the tiles have zooms 0-2: these are served'],
    })
    const set = await open()
    expect(await set.tile({ z: 2, x: 0, y: 0 })).not.toBeNull()
    set.close()
  })

  it.each([
    ['one run of equal tiles', [0, 1, 2, 3].flatMap((z) => wholeZoom(z)).map((one) => ({ ...one, data: PNG }))],
    [
      'leaf directories',
      wholeZoom(7).map((one, i) => ({ ...one, data: Buffer.concat([PNG, Buffer.from([i, i >> 8])]) })),
    ],
  ])('finds the zooms of all tiles, and bounds without any, in %s', async (_, tiles) => {
    await writePmtiles(file, [{ z: 4, x: 3, y: 3, data: PNG }, ...tiles], { ...ABOUT, bounds: [100, 10, 110, 20] })
    change(100, 5)
    change(101, 2)
    const deepest = Math.max(...tiles.map(({ z }) => z), 4)
    const first = Math.min(...tiles.map(({ z }) => z), 4)
    const probe = await probePmtiles(folder, file)
    expect(probe).toMatchObject({ minZoom: first, maxZoom: deepest })
    expect(probe?.warnings[0]).toBe(
      `zooms 5-2 are declared, but the tiles have zooms ${first}-${deepest}: these are served`,
    )
    const set = await open()
    for (const { z, x, y } of [tiles[0]!, tiles.at(-1)!]) expect(await set.tile({ z, x, y })).not.toBeNull()
    set.close()
  })

  it('warns of bounds that contain none of its tiles, though these are one run', async () => {
    const tiles = [4, 5, 6, 7].map((x) => ({ z: 3, x, y: 0, data: PNG }))
    await writePmtiles(file, tiles, { ...ABOUT, bounds: [-100, -60, -90, -50] })
    const probe = await probePmtiles(folder, file)
    expect(probe?.warnings).toEqual([expect.stringContaining('the bounds -100, -60, -90, -50 contain no tile')])
    expect(probe?.bounds).toEqual([0, expect.closeTo(79.17), 180, expect.closeTo(85.05)])
  })

  it('of packed data without a type is not served as vector tiles, and a section without a length ends with the file', async () => {
    const about = { ...ABOUT, format: 'pbf', encoding: 'gzip' } as const
    const serve = async (data: string) => {
      await writePmtiles(file, [{ z: 0, x: 0, y: 0, data: gzipSync(Buffer.from(data, 'latin1')) }], about)
      change(99, 0)
      for (let at = 64; at < 72; at++) change(at, 0)
      return (await probePmtiles(folder, file))?.format
    }
    await expect(serve('{"a": 1}')).rejects.toThrow('does not name the format')
    expect(await serve('\x1a\x05\x78\x02')).toBe('pbf')
  })

  it('with metadata that cannot be unpacked is served, with a warning', async () => {
    await writePmtiles(file, [{ z: 0, x: 0, y: 0, data: PNG }], { ...ABOUT, bounds: [-180, -85, 180, 85] })
    const bytes = fs.readFileSync(file)
    change(bytes.readUInt32LE(24) + 1, 0)
    const probe = await probePmtiles(folder, file)
    expect(probe).toMatchObject({ format: 'png', name: null })
    expect(probe?.warnings).toEqual([expect.stringContaining('the metadata is ignored')])
  })

  it('serves images whose type the header does not name, and directories that are not compressed as it says', async () => {
    await writePmtiles(file, [{ z: 0, x: 0, y: 0, data: PNG }], { ...ABOUT, bounds: [-180, -85, 180, 85] })
    change(99, 7)
    for (const method of [1, 3, 4]) {
      change(97, method)
      expect(await probePmtiles(folder, file)).toMatchObject({
        format: 'png',
        name: 'Test',
        warnings: ['the tiles are declared as type 7, but their bytes are png: they are served as png'],
      })
    }
  })

  it('keeps the center of its metadata', async () => {
    await writePmtiles(file, [{ z: 3, x: 1, y: 1, data: PNG }], { ...ABOUT, metadata: { center: [-5.5, 30, 7] } })
    expect((await probePmtiles(folder, file))?.metadata).toEqual({ center: [-5.5, 30, 3] })
  })

  it('returns null for an archive that is missing or leads out of the source', async () => {
    expect(await probePmtiles(folder, file)).toBeNull()
    fs.symlinkSync('/etc/passwd', file)
    expect(await probePmtiles(folder, file)).toBeNull()
  })

  it('has another fingerprint after the archive was replaced', async () => {
    await writePmtiles(file, [tile(0, 0, 0, 'a')], ABOUT)
    const before = (await probePmtiles(folder, file))?.fingerprint
    await writePmtiles(file, [tile(0, 0, 0, 'b')], ABOUT)
    expect((await probePmtiles(folder, file))?.fingerprint).not.toBe(before)
  })
})

describe('a broken archive', () => {
  async function written(): Promise<Buffer> {
    await writePmtiles(file, wholeZoom(7), ABOUT)
    return fs.readFileSync(file)
  }
  const expectBroken = async (bytes: Uint8Array, words: RegExp) => {
    fs.writeFileSync(file, bytes)
    await expect(open()).rejects.toThrow(BrokenArchiveError)
    await expect(open()).rejects.toThrow(words)
    await expect(openArchive(folder, file)).rejects.toThrow(words)
  }

  it('is refused with a clear message', async () => {
    const good = await written()
    const changed = (offset: number, value: number) => {
      const bytes = Buffer.from(good)
      bytes[offset] = value
      return bytes
    }
    await expectBroken(Buffer.alloc(0), /not a PMTiles archive/)
    await expectBroken(Buffer.alloc(5000), /not a PMTiles archive/)
    await expectBroken(changed(7, 2), /version 2 is not supported/)
    await expectBroken(good.subarray(0, 100), /not a PMTiles archive/)
    await expectBroken(good.subarray(0, 5000), /lies beyond the end/)
    const packed = Buffer.from(good)
    Buffer.from('28b52ffd', 'hex').copy(packed, good.readUInt32LE(8))
    await expectBroken(packed, /directories compressed with zstd/)
    await expectBroken(Buffer.concat([Buffer.from([0x50, 0x4d, 2, 0]), good.subarray(4)]), /version 2 is not supported/)
    await expectBroken(changed(good.readUInt32LE(8) + 20, 0xff), /cannot be unpacked|a directory of the archive/)
    fs.writeFileSync(file, changed(99, 9))
    await expect(probePmtiles(folder, file)).rejects.toThrow(/tiles of type 9/)
  })

  it('is not served if its tiles have a compression that no client reads', async () => {
    const good = await written()
    for (const [method, words] of [
      [4, /tiles compressed with zstd/],
      [3, /tiles compressed with brotli/],
    ] as const) {
      good[98] = method
      fs.writeFileSync(file, good)
      await expect(probePmtiles(folder, file)).rejects.toThrow(words)
    }
  })

  it('never hangs, allocates without limit or throws another error, whatever bytes are changed', async () => {
    const good = await written()
    const change = fc.tuple(fc.oneof(fc.nat(130), fc.nat(good.length - 1)), fc.nat(255))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        const bytes = Buffer.from(good)
        for (const [offset, value] of changes) bytes[offset] = value
        fs.writeFileSync(file, bytes)
        try {
          const set = await open()
          try {
            for (let i = 0; i < 40; i++) {
              const found = await set.tile({ z: 7, x: (i * 37) % 128, y: (i * 91) % 128 })
              if (found === null || found === 'busy' || found.body instanceof Uint8Array) continue
              expect(found.body.offset + found.body.length).toBeLessThanOrEqual(bytes.length)
              found.body.release()
            }
          } finally {
            set.close()
          }
        } catch (error) {
          expect(error).toBeInstanceOf(BrokenArchiveError)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('ends at a cycle of leaf directories', async () => {
    await writePmtiles(file, wholeZoom(7), ABOUT)
    const good = fs.readFileSync(file)
    // Uncompressed directories: a root whose only entry is a leaf, and a leaf whose only entry is itself.
    const ring = Buffer.from([1, 0, 0, 5, 1])
    good[97] = 1
    good.writeBigUInt64LE(127n, 8)
    good.writeBigUInt64LE(5n, 16)
    good.writeBigUInt64LE(127n, 40)
    good.writeBigUInt64LE(5n, 48)
    ring.copy(good, 127)
    fs.writeFileSync(file, good)
    const set = await open()
    expect(() => set.tileIfCached?.({ z: 7, x: 3, y: 3 })).toThrow('nested more than')
    await expect(set.tile({ z: 7, x: 3, y: 3 })).rejects.toThrow('nested more than')
    set.close()
  })

  it('reads directories compressed with brotli, as the format allows', async () => {
    await writePmtiles(file, [tile(0, 0, 0, 'only')], ABOUT)
    const good = fs.readFileSync(file)
    const [offset, length] = [Number(good.readBigUInt64LE(8)), Number(good.readBigUInt64LE(16))]
    const packed = brotliCompressSync(gunzipSync(good.subarray(offset, offset + length)))
    const bytes = Buffer.concat([good, packed])
    bytes[97] = 3
    bytes.writeBigUInt64LE(BigInt(good.length), 8)
    bytes.writeBigUInt64LE(BigInt(packed.length), 16)
    fs.writeFileSync(file, bytes)
    expect(await readAll([tile(0, 0, 0, '')])).toEqual(['only'])
  })
})
