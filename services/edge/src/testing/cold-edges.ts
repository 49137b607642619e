import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Change } from '@gateway/contracts/change.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { LAYOUTS, writeLayout } from '@gateway/tilesets/testing/mbtiles-layouts.js'
import { afterAll, beforeAll, expect } from 'vitest'
import { EMPTY_CATALOG } from '../sync/catalog.js'
import type { CatalogReplica } from '../sync/catalog-replica.js'
import { OTHER_CODES, OTHERS, writeOthers } from './cold-others.js'
import { follow } from './follow.js'
import { memoryReader } from './memory-reader.js'
import { type RawAnswer, RawClient, type RawRequest } from './raw-client.js'
import { READER, type RunningEdge, runEdge } from './running-edge.js'

/*
 * Two edges in whose memory no tile fits, over the same files: one reads tiles without JavaScript, the other with it. Between requests the files and
 * the catalog change for both.
 */

/** Less than the heads of one tile. */
const TILE_MEMORY_BYTES = 1_024
export const LEAF_ZOOM = 7

export const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-cold-')))
/** A link that points to one of two directories. */
export const root = path.join(home, 'maps')
export const DELIVERIES = ['first', 'second'] as const
export const outside = path.join(home, 'outside')
export const TOKENS = { all: createToken(), alps: createToken(), others: createToken(), ends: createToken() }
export type Who = keyof typeof TOKENS
type Layout = keyof typeof LAYOUTS
/** MBTiles archives, one basemap each. */
export const DATABASES = Object.keys(LAYOUTS) as Layout[]
/** Beyond the leaves' 2^14 tiles of one zoom, indexes would have more levels; small pages have them with fewer. */
export const DATABASE_ZOOM = 5
/** A vector with tiles. */
export const VECTOR = 'lakes'
const LAKES = { minZoom: 0, maxZoom: LEAF_ZOOM, bounds: null, vectorLayers: [], leftOut: {} }
/** Limit of a tile that is read from a database without JavaScript, which sends 0/0/0. */
export const LARGE_BYTES = 520_000

interface Side {
  readonly running: RunningEdge
  readonly client: RawClient
  readonly follower: CatalogReplica
}
export let natively: Side
export let plainly: Side

/** State of the catalog. */
export const state = { defaultVersion: 'v1', withdrawn: false, delivery: 0, archive: 1, database: 1 }
export const changes: Change[] = []
const logState = () => ({ revision: changes.length, mark: `mark ${changes.length}`, epoch: 'one' })

const store = memoryReader({
  state: logState,
  changes: ({ revision }) => ({ covered: true, changes: changes.slice(revision), state: logState() }),
  basemaps: () => {
    const at = (name: string) => path.join(root, name)
    const of = (code: string, ...versions: Parameters<typeof storedBasemap>[1]) =>
      storedBasemap(code, versions, { sourcePath: root })
    const alps = ['v1', 'v2'].map((version) => storedVersion(version, { path: at(version) }))
    const archive = { storage: 'pmtiles', revision: state.archive } as const
    const database = { storage: 'mbtiles', revision: state.database } as const
    return [
      storedBasemap('alps', alps, {
        sourcePath: root,
        defaultVersion: state.defaultVersion,
        withdrawn: state.withdrawn,
      }),
      of('photos', storedVersion('v1', { path: at('photos'), format: 'jpg', extension: 'jpeg' })),
      of('roads', storedVersion('v1', { path: at('roads'), format: 'pbf', extension: 'pbf' })),
      of('south', storedVersion('v1', { path: at('south'), storage: 'tms', tileMatrixSet: 'WorldCRS84Quad' })),
      of('archive', storedVersion('v1', { path: at('archive.pmtiles'), ...archive })),
      of('packed', storedVersion('v1', { path: at('packed.pmtiles'), format: 'pbf', extension: 'pbf', ...archive })),
      ...OTHER_CODES.map((code) => {
        const { file, ...about }: { file: string } & Parameters<typeof storedVersion>[1] = OTHERS[code]
        return of(
          code,
          storedVersion('v1', { path: at(file), extension: OTHERS[code].format, ...about, revision: state.archive }),
        )
      }),
      ...DATABASES.map((layout) => {
        const isVector = layout === 'joined' || layout === 'shallow'
        const about = isVector ? ({ format: 'pbf', extension: 'pbf' } as const) : {}
        return of(layout, storedVersion('v1', { path: at(`${layout}.mbtiles`), ...about, ...database }))
      }),
    ]
  },
  vectors: () => {
    const { tiles } = storedVector(VECTOR)
    const build = { ...LAKES, folder: path.join(root, VECTOR), builtAt: `build ${state.archive}` }
    return [
      storedVector(VECTOR, { withdrawn: state.withdrawn, tiles: { ...tiles, build, buildRevision: state.archive } }),
    ]
  },
})

export async function tell(key: string, kind: Change['kind'] = 'basemap'): Promise<void> {
  changes.push({ revision: changes.length + 1, kind, key })
  for (const { follower } of [natively, plainly]) await follower.catchUp()
}

async function writeArchives(folder: string): Promise<void> {
  const about = { bounds: [-180, -85, 180, 85] as [number, number, number, number], metadata: {} }
  const side = 2 ** LEAF_ZOOM
  const tiles = Array.from({ length: side * side }, (_, i) => {
    return { z: LEAF_ZOOM, x: i % side, y: Math.floor(i / side), data: randomBytes(20 + (i % 50)) }
  })
  const large = { z: 0, x: 0, y: 0, data: randomBytes(100_000) }
  const middle = { z: 3, x: 1, y: 1, data: randomBytes(50_000) }
  await writePmtiles(path.join(folder, 'archive.pmtiles'), [large, middle, ...tiles.filter((_, i) => i % 9 !== 0)], {
    ...about,
    format: 'png',
    encoding: 'identity',
  })
  const packed = tiles.slice(0, 100).map((tile) => ({ ...tile, data: gzipSync(tile.data) }))
  await writeOthers(folder)
  for (const layout of DATABASES) writeLayout(path.join(folder, `${layout}.mbtiles`), layout, databaseTiles())
  fs.mkdirSync(path.join(folder, VECTOR))
  for (const file of ['packed.pmtiles', `${VECTOR}/tiles.pmtiles`])
    await writePmtiles(path.join(folder, file), packed, { ...about, format: 'pbf', encoding: 'gzip' })
}

/** Yields tiles of all lengths around those of pages, some of them packed, some of them missing or empty. */
function* databaseTiles() {
  const side = 2 ** DATABASE_ZOOM
  yield { z: 0, x: 0, y: 0, data: randomBytes(LARGE_BYTES + 10_000) }
  yield { z: 1, x: 0, y: 0, data: randomBytes(LARGE_BYTES) }
  yield { z: 1, x: 1, y: 1, data: gzipSync(randomBytes(LARGE_BYTES)) }
  yield { z: 2, x: 1, y: 1, data: randomBytes(80_000) }
  for (let i = 0; i < side * side; i++) {
    const data = randomBytes(i % 7 === 0 ? 0 : i % 100 === 1 ? 9_000 : (i * 37) % 2_200)
    if (i % 11 !== 0)
      yield { z: DATABASE_ZOOM, x: i % side, y: Math.floor(i / side), data: i % 3 === 0 ? gzipSync(data) : data }
  }
}

/** Starts both edges for all tests of a file. */
export function useColdEdges(): void {
  beforeAll(async () => {
    const [first, second] = DELIVERIES.map((delivery) => path.join(home, delivery)) as [string, string]
    fs.mkdirSync(first)
    await writeArchives(first)
    // Other files, with other tags.
    fs.cpSync(first, second, { recursive: true })
    fs.mkdirSync(outside)
    fs.writeFileSync(path.join(outside, 'secret.png'), 'secret')
    fs.symlinkSync(path.join(home, DELIVERIES[0]), root)
    const start = async (): Promise<Side> => {
      const port = await freePort()
      const options = { catalog: EMPTY_CATALOG, dataDir: home, controlPlane: 'http://[::1]:1' }
      const running = await runEdge({ port, tileMemoryBytes: TILE_MEMORY_BYTES, ...options })
      const follower = await follow(running, store, ({ catalog }) => running.edge.tiles.keepOnly(catalog))
      for (const who of Object.keys(TOKENS) as Who[]) grant(running, who)
      return { running, client: new RawClient(port), follower }
    }
    natively = await start()
    plainly = await start()
    expect([natively.running.edge.sender.tier, plainly.running.edge.sender.tier]).toEqual(['native', 'copy'])
  })
  afterAll(async () => {
    for (const { running, client } of [natively, plainly]) {
      client.close()
      running.edge.native.close()
      await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
    }
    fs.rmSync(home, { recursive: true, force: true })
  })
}

export function grant({ edge, storedTokens }: RunningEdge, who: Who, more: Partial<typeof READER> = {}): void {
  const basemaps = {
    all: ['*'],
    ends: ['*'],
    alps: ['alps'],
    others: ['photos', 'roads', 'south', 'archive', 'packed', ...DATABASES],
  }
  const digest = tokenDigest(TOKENS[who]).toString('hex')
  // A vector is also granted by the name of its file.
  const vectors = new Set({ all: ['*'], ends: [VECTOR], alps: [`${VECTOR}.geojson`], others: ['alps'] }[who])
  storedTokens.set(digest, { ...READER, id: who, basemaps: new Set(basemaps[who]), vectors, ...more })
  edge.tokens.invalidate(digest)
}

export const seen: Record<string, number> = {}

export function counted() {
  return [natively, plainly].map(({ running: { edge } }) => {
    edge.counters.beforeReading()
    const { requests, tiles, missingTiles, tokenHits, bytesSent, hotTileHits, authFailures } = edge.counters
    return { requests, tiles, missingTiles, tokenHits, bytesSent, hotTileHits, ...authFailures }
  })
}

export const targetOf = (path: string, query: string) => path + (path.includes('?') ? query.replace('?', '&') : query)

/** Requests from both; counts the responses without JavaScript. */
export async function askBoth(request: RawRequest): Promise<[RawAnswer, RawAnswer]> {
  const { native } = natively.running.edge
  const before = native.answers
  const answer = await natively.client.ask(request)
  if (native.answers > before) {
    const isPacked = answer.lines.includes('Content-Encoding: gzip') ? ' packed' : ''
    const about = `${request.target.startsWith('/wmts') ? 'KVP' : request.method} ${answer.status}${answer.body.length > 65_536 ? ' large' : isPacked}`
    seen[about] = (seen[about] ?? 0) + 1
    if (request.target.startsWith(`/vectors/${VECTOR}/`))
      seen[`vector ${answer.status}`] = (seen[`vector ${answer.status}`] ?? 0) + 1
    const layout = [...DATABASES, ...OTHER_CODES].find((each) => request.target.startsWith(`/tiles/${each}/`))
    if (layout !== undefined) seen[`${layout} ${answer.status}`] = (seen[`${layout} ${answer.status}`] ?? 0) + 1
  }
  return [answer, await plainly.client.ask(request)]
}

/** Digests large bodies, because a comparison byte by byte, as in `toEqual`, would take most of the time. */
export const inShort = ({ body, ...rest }: RawAnswer) => ({
  ...rest,
  body: createHash('sha1').update(body).digest('hex'),
})
