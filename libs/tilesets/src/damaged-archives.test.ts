import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BrokenArchiveError } from './broken-archive.js'
import { openListed } from './listed-source.js'
import { openMbtiles } from './mbtiles/archive.js'
import { writeMbtiles } from './mbtiles/writer.js'
import { openPmtiles } from './pmtiles/source.js'
import { writePmtiles } from './pmtiles/writer.js'
import { probeTileSet } from './probe.js'
import type { Tile } from './source.js'
import { MERCATOR_LEVELS, makeBundles, makeConf, makeRoot, makeZip, writeFiles } from './testing/esri-caches.js'
import { ALL_CACHED, servedFrom } from './testing/served-from.js'

/** Number of rounds, which take about two seconds; more by hand: DAMAGED=100000. The round number is the seed, which reproduces a failure. */
const ROUNDS = Number(process.env.DAMAGED ?? 250)
const FIRST = Number(process.env.DAMAGED_FIRST ?? 1)

let root: string
let conf: string
const KINDS = ['mbtiles', 'pmtiles', 'tpkx', 'bundle', 'conf', 'gpkg', 'tif'] as const
type Kind = (typeof KINDS)[number]

let good: Record<Kind, Buffer>
beforeAll(async () => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'damaged-')))
  const tiles = [0, 1, 2, 3].flatMap((z) =>
    Array.from({ length: 4 ** z }, (_, i) => {
      return { z, x: i >> z, y: i & (2 ** z - 1), data: gzipSync(Buffer.alloc(40 + i * 9, i)) }
    }),
  )
  const about = { name: 'a', format: 'pbf' as const, bounds: [-180, -85, 180, 85] as [number, number, number, number] }
  await writeMbtiles(path.join(root, 'good.mbtiles'), tiles, { ...about, metadata: { json: '{"vector_layers":[]}' } })
  await writePmtiles(path.join(root, 'good.pmtiles'), tiles, { ...about, encoding: 'gzip', metadata: { name: 'a' } })
  const bundles = [...makeBundles(tiles.map(({ z, x, y, data }) => ({ level: z, column: x, row: y, data })))]
  const inTile = bundles.map(([name, data]) => [`tile/${name}`, data] as const)
  conf = makeConf({ levels: MERCATOR_LEVELS.slice(0, 4) })
  fs.writeFileSync(
    path.join(root, 'image.pgm'),
    Buffer.concat([Buffer.from('P5 512 512 255\n'), Buffer.alloc(512 * 512, 7)]),
  )
  const half = 40075016.68557849 / 8
  const translate = (...args: string[]) => {
    const corner = ['-a_srs', 'EPSG:3857', '-a_ullr', `${-half}`, `${half}`, `${half}`, `${-half}`]
    const scheme = ['-co', 'TILING_SCHEME=GoogleMapsCompatible']
    execFileSync('gdal_translate', ['-q', ...corner, ...scheme, ...args], { stdio: 'pipe' })
  }
  translate('-of', 'GPKG', path.join(root, 'image.pgm'), path.join(root, 'good.gpkg'))
  translate(
    '-of',
    'COG',
    '-co',
    'COMPRESS=JPEG',
    '-co',
    'ADD_ALPHA=NO',
    path.join(root, 'image.pgm'),
    path.join(root, 'good.tif'),
  )
  good = {
    tpkx: makeZip([['root.json', makeRoot({ levels: MERCATOR_LEVELS, format: 'pbf' })], ...inTile]),
    bundle: bundles.find(([name]) => name.startsWith('L03'))![1],
    conf: Buffer.from(conf),
    gpkg: fs.readFileSync(path.join(root, 'good.gpkg')),
    tif: fs.readFileSync(path.join(root, 'good.tif')),
    mbtiles: fs.readFileSync(path.join(root, 'good.mbtiles')),
    pmtiles: fs.readFileSync(path.join(root, 'good.pmtiles')),
  }
}, 30_000)
afterAll(() => fs.rmSync(root, { recursive: true }))

/** Returns numbers below a limit, the same for the same seed (mulberry32). */
function randomBy(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/** Changes some bytes, most of them in the structure; copies a range to another position; or truncates. */
function damage(bytes: Buffer, seed: number): Buffer {
  const random = randomBy(seed)
  const damaged = Buffer.from(bytes)
  const structure = [0, 4096, 8192, 12288, Math.max(0, bytes.length - 600)]
    .map((start) => start + random(200))
    .filter((at) => at < bytes.length)
  for (let n = random(6); n >= 0; n--) {
    const at = random(3) > 0 ? structure[random(structure.length)]! : random(bytes.length)
    damaged[at] = random(4) === 0 ? 0xff : random(256)
  }
  if (random(4) === 0) damaged.copy(damaged, random(bytes.length), random(bytes.length), random(bytes.length))
  return random(5) === 0 ? damaged.subarray(0, random(bytes.length)) : damaged
}

test.each(KINDS)(
  'a damaged %s archive causes no other error than BrokenArchiveError',
  async (kind) => {
    let broken = 0
    for (let seed = FIRST; seed < FIRST + ROUNDS; seed++) {
      // A separate name for each file: SQLite may have left a journal of the previous one.
      const file = path.join(root, `${seed}.${kind}`)
      write(kind, file, damage(good[kind], seed))
      for (const use of [() => probeTileSet(root, file), () => readAll(kind, file)]) {
        try {
          await use()
        } catch (error) {
          if (!(error instanceof BrokenArchiveError)) throw new Error(`damage ${seed}`, { cause: error })
          broken++
        }
      }
      fs.rmSync(file, { recursive: true })
    }
    expect(broken).toBeGreaterThan(ROUNDS / 10)
  },
  // A generous timeout.
  20_000 + ROUNDS * 200,
)

/** Writes a damaged bundle, or a damaged description, into its cache. */
function write(kind: Kind, file: string, data: Buffer): void {
  if (kind !== 'bundle' && kind !== 'conf') {
    fs.writeFileSync(file, data)
    return
  }
  writeFiles(file, [
    ['conf.xml', kind === 'conf' ? data : conf],
    ['_alllayers/L03/R0000C0000.bundle', kind === 'bundle' ? data : good.bundle],
  ])
}

async function readAll(kind: Kind, file: string): Promise<void> {
  const { tile, close } = await openTiles(kind, file)
  try {
    for (let i = 0; i < 64; i++) await tile(3, i >> 3, i & 7)
    await tile(0, 0, 0)
  } finally {
    close()
  }
}

const OTHERS = { tpkx: 'tpkx', bundle: 'esri_compact', conf: 'esri_compact', gpkg: 'geopackage', tif: 'cog' } as const

async function openTiles(kind: Kind, file: string) {
  if (kind === 'mbtiles') return openMbtilesTiles(file)
  if (kind === 'pmtiles') return openPmtilesTiles(file)
  const spec = servedFrom(root, file, OTHERS[kind], { format: kind === 'tif' ? 'jpg' : 'pbf' })
  const source = await openListed(spec, ALL_CACHED)
  // A description that describes nothing is no cache.
  if (source === null) return { tile: async () => null, close() {} }
  return {
    tile: async (z: number, x: number, y: number) => {
      const tile = release(await source.tile({ z, x, y }))
      for (const [, leaf] of source.knownLeaves?.({ z, x, y }) ?? [])
        expect(leaf.tileIds.every((id, i) => i === 0 || id > (leaf.tileIds[i - 1] as number))).toBe(true)
      return tile
    },
    close: () => source.close(),
  }
}

function release(tile: Tile | null | 'busy') {
  if (tile !== null && tile !== 'busy' && !(tile.body instanceof Uint8Array)) tile.body.release()
  return tile
}

function openMbtilesTiles(file: string) {
  const opening = openMbtiles(root, file)
  if (!opening.ok) throw new Error(opening.reason)
  return opening.archive
}

async function openPmtilesTiles(file: string) {
  const source = await openPmtiles(servedFrom(root, file, 'pmtiles'), null)
  if (source === null) throw new Error('absent')
  return {
    tile: (z: number, x: number, y: number) => source.tile({ z, x, y }),
    close: () => source.close(),
  }
}
