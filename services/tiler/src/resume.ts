import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import type { TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import sharp from 'sharp'
import { z } from 'zod'
import type { Chunk } from './chunks.js'
import type { Engine, Identity } from './engines/engine.js'
import type { Pixels } from './pixels.js'
import type { Preflight } from './preflight.js'
import type { Range } from './stretch.js'
import { digestOf, type WrittenTile } from './tile-writer.js'

const pack = promisify(deflate)
const unpack = promisify(inflate)

const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** Identifies the input of the kept chunks. Written first: a folder without this file is ignored. */
const ORIGIN_FILE = 'origin'

/** Limit: bytes of an unpacked record, of which a tile of 512 pixels takes 1 MiB and the names of its tiles about 30 KB. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024

/** Tiles of a chunk that are read at a time to be checked. */
const CHECKED_AT_A_TIME = 8

const recordSchema = z.object({
  tiles: z.array(z.object({ name: z.string(), bytes: z.int(), digest: z.string() })),
  alpha: z.enum(['empty', 'partial', 'opaque']).nullable(),
})
type ChunkRecord = z.infer<typeof recordSchema>

/** A finished chunk: its tiles are staged, and `pixels` is what its parent is made from. */
export interface KeptChunk {
  readonly tiles: number
  /** null if the chunk is empty, or if its zoom is not requested */
  readonly pixels: Pixels | null
}

/** The finished chunks of a run, so that another run of the same request makes only the others. */
export interface Resume {
  /** chunks that an earlier run finished, and bytes of their tiles */
  readonly chunks: number
  readonly bytes: number
  has(at: Pick<Chunk, 'x' | 'y'>): boolean
  read(at: Pick<Chunk, 'x' | 'y'>): Promise<KeptChunk>
  /** Records a chunk whose tiles are all written. */
  keep(at: Pick<Chunk, 'x' | 'y'>, tiles: readonly WrittenTile[], pixels: Pixels | null): Promise<void>
}

/**
 * Opens the results of an earlier run of exactly this request, and checks them tile by tile: a chunk is made again unless the size and digest of each
 * of its tiles are as recorded. If the request, a source, the layer below or a program has changed, the earlier run's tiles are removed.
 */
export async function openResume(folder: string, staging: string, origin: string): Promise<Resume> {
  const found = await readFile(join(folder, ORIGIN_FILE), 'utf8').catch(() => null)
  if (found !== origin) {
    await rm(folder, { recursive: true, force: true })
    await rm(staging, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await write(folder, ORIGIN_FILE, Buffer.from(origin))
  }
  await mkdir(staging, { recursive: true })
  const kept = new Set<string>()
  let bytes = 0
  for (const name of await readdir(folder)) {
    if (!/^\d+-\d+$/.test(name)) continue
    const record = await readRecord(folder, name).catch(() => null)
    if (record === null || !(await areIntact(staging, record.head.tiles))) continue
    kept.add(name)
    bytes += record.head.tiles.reduce((sum, tile) => sum + tile.bytes, 0)
  }
  return {
    chunks: kept.size,
    bytes,
    has: (at) => kept.has(nameOf(at)),
    async read(at) {
      const { head, data } = await readRecord(folder, nameOf(at))
      return {
        tiles: head.tiles.length,
        pixels: head.alpha === null ? null : { data, alpha: head.alpha },
      }
    },
    async keep(at, tiles, pixels) {
      const head: ChunkRecord = { tiles: [...tiles], alpha: pixels?.alpha ?? null }
      const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), pixels?.data ?? Buffer.alloc(0)])
      await write(folder, nameOf(at), await pack(content, { level: 1 }))
    },
  }
}

/**
 * Names all that the bytes of a run's tiles depend on. A source counts by its tag (`resume.source_tags`), or by its size and change times: it
 * may have been fetched again, or lie on another machine's mount.
 */
export function originOf(
  request: TilingRequest,
  engine: Engine,
  { sources, placed, grid, format, layer }: Preflight,
  range: Range | null,
): string {
  const { zoom_min, zoom_max, tile_size, tile_format, tile_matrix_set, encoding, resampling, mode, resume } = request
  const asked = { zoom_min, zoom_max, tile_size, tile_format, tile_matrix_set, encoding, resampling, mode }
  const stamp = ({ size, ctimeNs }: Identity) => [size, ctimeNs]
  const tags = sources.map(
    ({ identity, beside }, index) =>
      resume?.source_tags?.[index] ?? [stamp(identity), ...beside.files.map((file) => stamp(file.identity))],
  )
  const made = [
    VERSION,
    process.version,
    engine.description,
    sharp.versions,
    asked,
    tags,
    placed,
    grid,
    format,
    layer,
    range,
  ]
  // The path of a fetched source says nothing, and neither does the identity of its descriptor.
  const text = JSON.stringify(made, (key, value) =>
    key === 'identity' || key === 'path' ? undefined : typeof value === 'bigint' ? String(value) : value,
  )
  return createHash('sha256').update(text).digest('hex')
}

async function readRecord(folder: string, name: string): Promise<{ head: ChunkRecord; data: Buffer }> {
  const content = await unpack(await readFile(join(folder, name)), { maxOutputLength: MAX_RECORD_BYTES })
  const end = content.indexOf('\n')
  // A copy: heights need an address that is a multiple of their size.
  return {
    head: recordSchema.parse(JSON.parse(content.toString('utf8', 0, end))),
    data: Buffer.from(content.subarray(end + 1)),
  }
}

async function areIntact(staging: string, tiles: ChunkRecord['tiles']): Promise<boolean> {
  for (let at = 0; at < tiles.length; at += CHECKED_AT_A_TIME) {
    const some = tiles.slice(at, at + CHECKED_AT_A_TIME)
    const intact = await Promise.all(
      some.map(async ({ name, bytes, digest }) => {
        const content = await readFile(join(staging, name)).catch(() => null)
        return content?.length === bytes && digestOf(content) === digest
      }),
    )
    if (intact.includes(false)) return false
  }
  return true
}

function nameOf({ x, y }: Pick<Chunk, 'x' | 'y'>): string {
  return `${x}-${y}`
}

/** Whole or not at all. */
async function write(folder: string, name: string, content: Buffer): Promise<void> {
  const temporary = join(folder, `${name}.new`)
  await writeFile(temporary, content)
  await rename(temporary, join(folder, name))
}
