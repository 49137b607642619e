import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { IssuedToken, TokenBody } from '@gateway/contracts/token.js'
import { beforeAll } from 'vitest'
import { fromBuffer } from 'yauzl'
import { compareWithDocument } from '../harness/described-responses.js'
import { tileImage } from '../harness/fixtures/tile-image.js'
import { makeMbtiles, makePmtiles, makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson, makeShapefile } from '../harness/fixtures/vectors.js'
import type { Gateway } from '../harness/gateway.js'
import type { GatewayOptions } from '../harness/start-gateway.js'
import { useGateway } from '../harness/use-gateway.js'

/** A gateway with a catalog of every kind, for black-box tests of the interface. */
export interface Maps {
  readonly gateway: Gateway
  readonly basemapRoot: string
  readonly vectorRoot: string
  get(path: string, headers?: Record<string, string>): Promise<Response>
}

/**
 * Basemaps `world` (XYZ png, versions 2026-2 and 2026-10), `flipped` (TMS), `archive` (MBTiles), `cloud` (PMTiles), `photo` (XYZ with the
 * extension jpeg), `streets` (gzip-compressed vector tiles); vectors below `regions/` and one with non-ASCII letters.
 */
export function useMaps(options: GatewayOptions = {}): () => Maps {
  let maps: Maps | undefined
  const gateway = useGateway(options, async (started) => {
    maps = await layOut(started)
  })
  compareWithDocument(gateway)
  return () => {
    if (maps === undefined) throw new Error('the maps are there during tests only')
    return maps
  }
}

async function layOut(gateway: Gateway): Promise<Maps> {
  const basemapRoot = join(gateway.home, 'basemaps')
  const vectorRoot = join(gateway.home, 'vectors')
  await makeTileFolder(join(basemapRoot, 'world/2026-2'))
  await makeTileFolder(join(basemapRoot, 'world/2026-10'), { shade: 9 })
  await makeTileFolder(join(basemapRoot, 'flipped'), { scheme: 'tms' })
  await makeMbtiles(join(basemapRoot, 'archive.mbtiles'))
  await makePmtiles(join(basemapRoot, 'cloud.pmtiles'))
  await makeJpegFolder(join(basemapRoot, 'photo'))
  await mkdir(join(basemapRoot, 'streets/0/0'), { recursive: true })
  await writeFile(join(basemapRoot, 'streets/0/0/0.pbf'), gzipSync(VECTOR_TILE))
  await makeGeojson(join(vectorRoot, 'regions/countries.geojson'), 200)
  await makeShapefile(join(vectorRoot, 'regions/rivers.shp'))
  await makeGeojson(join(vectorRoot, 'données/été 1.geojson'))
  await gateway.admin.scanSource('fixture-basemaps', 'basemap', basemapRoot)
  await gateway.admin.scanSource('fixture-vectors', 'vector', vectorRoot)
  return {
    gateway,
    basemapRoot,
    vectorRoot,
    get: (path, headers = {}) => fetch(gateway.url + path, { headers }),
  }
}

/** A version 2 layer named `l` without features: bytes that a vector tile client accepts. */
export const VECTOR_TILE = Buffer.from([0x1a, 0x05, 0x0a, 0x01, 0x6c, 0x78, 0x02])

async function makeJpegFolder(dir: string): Promise<void> {
  await makeTileFolder(dir, { format: 'jpg', maxZoom: 0 })
  await rename(join(dir, '0/0/0.jpg'), join(dir, '0/0/0.jpeg'))
}

/** Reads the tile of the fixture sets at an address, as stored on disk. */
export function fixtureTile(z: number, x: number, y: number): Promise<Buffer> {
  return tileImage('png', z, x, y)
}

/** Issues a token for all tests of a file; everything is granted unless the body says otherwise. */
export function useToken(maps: () => Maps, body: Partial<TokenBody> = {}): () => string {
  let token: IssuedToken | undefined
  beforeAll(async () => {
    token = await maps().gateway.issueToken({ basemap_codes: ['*'], vector_codes: ['*'], ...body })
  })
  return () => {
    if (token === undefined) throw new Error('the token is there during tests only')
    return token.token
  }
}

/** Returns the files of the fixture shapefile by name. */
export async function shapefileParts(maps: Maps): Promise<Record<string, Buffer>> {
  const dir = join(maps.vectorRoot, 'regions')
  const names = (await readdir(dir)).filter((name) => basename(name).startsWith('rivers.'))
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))] as const)),
  )
}

/** Returns the entries of a zip by name. */
export function entriesOf(zip: Buffer): Promise<Record<string, Buffer>> {
  return new Promise((resolve, reject) => {
    fromBuffer(zip, { lazyEntries: true }, (error, file) => {
      if (error) return reject(error)
      const entries: Record<string, Buffer> = {}
      file.on('error', reject)
      file.on('end', () => resolve(entries))
      file.on('entry', (entry) => {
        file.openReadStream(entry, async (failure, stream) => {
          if (failure) return reject(failure)
          const chunks: Buffer[] = []
          for await (const chunk of stream) chunks.push(chunk as Buffer)
          entries[entry.fileName] = Buffer.concat(chunks)
          file.readEntry()
        })
      })
      file.readEntry()
    })
  })
}

/** Returns the sum of a counter over all its labels in a Prometheus text. */
export function metric(text: string, name: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
