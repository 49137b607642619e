import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Entry, encodeDirectory, encodeHeader } from '@gateway/tilesets/pmtiles/writer.js'
import { tileIdToZxy, zxyToTileId } from 'pmtiles'
import type { Random } from './random.js'
import { type Address, firstAbove } from './traffic.js'

/** Version of the data. Increment it with every change. */
const VERSION = 1
const TILES = 10_000_000
const ZOOM = 12
/** Minimum size of a tile, for a mean of 2,000 bytes: 20 GB in all, stored as a sparse file. */
const LEAST_BYTES = 1_000
const MOST_BYTES = 3_000
/** Entries of a leaf: few enough leaves that the root directory fits. */
const LEAF_ENTRIES = 8_192
/** PMTiles 3, section 3. */
const HEADER_BYTES = 127
const BOUNDS = [-180, -85, 180, 85] as never
/** Exponent of Zipf's law: that of map traffic is between 0.8 and 1 in published logs. */
const EXPONENT = 0.9
/** Number of neighbours on the Hilbert curve with about equal interest: the content of one view. */
const NEIGHBOURS = 64
/** A number coprime to the number of such neighbourhoods, so that each occurs once. */
const SCATTER = 104_729

export const zipfDirectory = (): string => join(tmpdir(), `gateway-bench-zipf-${VERSION}`, 'basemaps')

/** Returns the source directory of a gateway with the basemap `zipf`: a sparse PMTiles archive of ten million tiles in 20 GB. Created once: 20 MB. */
export async function zipfSet(): Promise<string> {
  const basemaps = zipfDirectory()
  if (existsSync(basemaps)) return basemaps
  process.stderr.write(`Making the data in ${basemaps}, once ...\n`)
  const unfinished = `${basemaps}-${process.pid}`
  await mkdir(join(unfinished, 'zipf'), { recursive: true })
  await writeSparse(join(unfinished, 'zipf/v1.pmtiles'))
  await rm(basemaps, { recursive: true, force: true })
  await rename(unfinished, basemaps)
  return basemaps
}

const FIRST = zxyToTileId(ZOOM, 0, 0)

async function writeSparse(file: string): Promise<void> {
  const pointers: Entry[] = []
  const leaves: Buffer[] = []
  let leafBytes = 0
  let dataBytes = 0
  for (let start = 0; start < TILES; start += LEAF_ENTRIES) {
    const entries: Entry[] = []
    for (let i = start; i < Math.min(TILES, start + LEAF_ENTRIES); i++) {
      const length = LEAST_BYTES + ((Math.imul(i, 2_654_435_761) >>> 0) % (MOST_BYTES - LEAST_BYTES))
      entries.push({ tileId: FIRST + i, runLength: 1, offset: dataBytes, length })
      dataBytes += length
    }
    const leaf = encodeDirectory(entries)
    pointers.push({ tileId: FIRST + start, runLength: 0, offset: leafBytes, length: leaf.length })
    leaves.push(leaf)
    leafBytes += leaf.length
  }
  const root = encodeDirectory(pointers)
  const metadata = gzipSync('{"name":"zipf"}')
  const description = { format: 'png', encoding: 'identity', bounds: BOUNDS, metadata: {} } as const
  let end = HEADER_BYTES
  const sections = [root.length, metadata.length, leafBytes, dataBytes].map((length) => {
    end += length
    return { offset: end - length, length }
  })
  const header = encodeHeader(sections, [TILES, TILES, TILES], [ZOOM, ZOOM], description)
  const head = Buffer.concat([header, root, metadata, ...leaves])
  const archive = await open(file, 'w')
  try {
    await archive.write(head)
    await archive.truncate(head.length + dataBytes)
  } finally {
    await archive.close()
  }
}

/** Returns `count` addresses of the archive, by Zipf's law over all of its tiles. Neighbours have neighbouring ranks. */
export function sampleZipf(random: Random, count: number): Address[] {
  const cumulated = new Float64Array(TILES)
  let sum = 0
  for (let rank = 0; rank < TILES; rank++) {
    sum += (rank + 1) ** -EXPONENT
    cumulated[rank] = sum
  }
  const neighbourhoods = TILES / NEIGHBOURS
  return Array.from({ length: count }, () => {
    const rank = firstAbove(cumulated, random() * sum)
    const place = (Math.floor(rank / NEIGHBOURS) * SCATTER) % neighbourhoods
    const [z, x, y] = tileIdToZxy(FIRST + place * NEIGHBOURS + (rank % NEIGHBOURS))
    return { z, x, y }
  })
}
