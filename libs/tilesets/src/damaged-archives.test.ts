import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BrokenArchiveError } from './broken-archive.js'
import { openMbtiles } from './mbtiles/archive.js'
import { writeMbtiles } from './mbtiles/writer.js'
import { openPmtiles } from './pmtiles/source.js'
import { writePmtiles } from './pmtiles/writer.js'
import { probeArchive } from './probe.js'
import { servedFrom } from './testing/served-from.js'

/** As many as take some two seconds; more by hand: DAMAGED=100000. Each is made from its number, by which a failure can be had again. */
const ROUNDS = Number(process.env.DAMAGED ?? 250)
const FIRST = Number(process.env.DAMAGED_FIRST ?? 1)

let root: string
let good: Record<'mbtiles' | 'pmtiles', Buffer>
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
  good = {
    mbtiles: fs.readFileSync(path.join(root, 'good.mbtiles')),
    pmtiles: fs.readFileSync(path.join(root, 'good.pmtiles')),
  }
})
afterAll(() => fs.rmSync(root, { recursive: true }))

/** Numbers below a limit, the same ones for the same seed (mulberry32). */
function randomBy(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/** Some bytes changed, most of them where the structure is; a stretch copied to elsewhere; or the end cut off. */
function damage(bytes: Buffer, seed: number): Buffer {
  const random = randomBy(seed)
  const damaged = Buffer.from(bytes)
  const structure = [0, 4096, 8192, 12288].map((start) => start + random(200)).filter((at) => at < bytes.length)
  for (let n = random(6); n >= 0; n--) {
    const at = random(3) > 0 ? structure[random(structure.length)]! : random(bytes.length)
    damaged[at] = random(4) === 0 ? 0xff : random(256)
  }
  if (random(4) === 0) damaged.copy(damaged, random(bytes.length), random(bytes.length), random(bytes.length))
  return random(5) === 0 ? damaged.subarray(0, random(bytes.length)) : damaged
}

test.each(['mbtiles', 'pmtiles'] as const)(
  'a damaged %s archive is an error of its own, and never anything else',
  async (kind) => {
    let broken = 0
    for (let seed = FIRST; seed < FIRST + ROUNDS; seed++) {
      // A name for each: SQLite may have left a journal beside the one before.
      const file = path.join(root, `${seed}.${kind}`)
      fs.writeFileSync(file, damage(good[kind], seed))
      for (const use of [() => probeArchive(root, file), () => readAll(kind, file)]) {
        try {
          await use()
        } catch (error) {
          if (!(error instanceof BrokenArchiveError)) throw new Error(`damage ${seed}`, { cause: error })
          broken++
        }
      }
      fs.rmSync(file)
    }
    expect(broken).toBeGreaterThan(ROUNDS / 10)
  },
  // Far more than it takes.
  20_000 + ROUNDS * 200,
)

async function readAll(kind: 'mbtiles' | 'pmtiles', file: string): Promise<void> {
  const { tile, close } = kind === 'mbtiles' ? openMbtilesTiles(file) : await openPmtilesTiles(file)
  try {
    for (let i = 0; i < 64; i++) await tile(3, i >> 3, i & 7)
    await tile(0, 0, 0)
  } finally {
    close()
  }
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
