import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import type net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type RunningEdge, runEdge } from './running-edge.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-edge-'))
export const SMALL = randomBytes(5_000)
const LARGE = randomBytes(900_000)
export const VECTOR_TILE = Buffer.from(`\x1a${'layer '.repeat(3_000)}`)
export const GEOJSON = Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: [], x: 'y'.repeat(400_000) }))

export let running: RunningEdge
let upstream: http.Server
let onUpstream: http.RequestListener

/** Sets the responses of the control plane from now on. */
export function answerUpstream(listener: http.RequestListener): void {
  onUpstream = listener
}

function write(relativePath: string, data: Uint8Array): void {
  const file = path.join(home, relativePath)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, data)
}

/**
 * Starts an edge in the test's process with small and large tiles, vectors, and a control plane that answers as the test says; for all tests of a
 * file.
 */
export function useServingEdge(): void {
  beforeAll(async () => {
    write('maps/raster/0/0/0.png', SMALL)
    write('maps/raster/1/0/0.png', LARGE)
    write('maps/vector/0/0/0.pbf', gzipSync(VECTOR_TILE))
    write('maps/vector/1/0/0.pbf', gzipSync(Buffer.alloc(64 * 1024 * 1024)))
    write('vectors/points.geojson', GEOJSON)
    for (const extension of ['shp', 'shx', 'dbf']) write(`vectors/roads.${extension}`, randomBytes(1_000))
    const source = { sourcePath: path.join(home, 'maps') }
    const vectors = { sourcePath: path.join(home, 'vectors') }
    const catalog = nextCatalog(
      EMPTY_CATALOG,
      {
        codes: null,
        rows: [
          storedBasemap('raster', [storedVersion('v1', { path: path.join(home, 'maps/raster') })], {
            ...source,
            name: 'Raster '.repeat(100),
          }),
          storedBasemap(
            'vector',
            [storedVersion('v1', { path: path.join(home, 'maps/vector'), format: 'pbf', extension: 'pbf' })],
            source,
          ),
        ],
      },
      {
        codes: null,
        rows: [
          storedVector('points', { ...vectors, path: path.join(home, 'vectors/points.geojson') }),
          storedVector('roads', {
            ...vectors,
            kind: 'shapefile',
            fileName: 'röads.shp',
            relativePath: 'roads.shp',
            path: path.join(home, 'vectors/roads.shp'),
          }),
        ],
      },
    )
    upstream = http.createServer((req, res) => onUpstream(req, res))
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    const controlPlane = `http://127.0.0.1:${(upstream.address() as net.AddressInfo).port}`
    running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane })
  })

  afterAll(async () => {
    await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
    upstream.closeAllConnections()
    await new Promise((resolve) => upstream.close(resolve))
    fs.rmSync(home, { recursive: true, force: true })
  })
}

/** Sends a request, and returns the body exactly as received. */
export function ask(address: string, options: http.RequestOptions & { body?: Uint8Array } = {}) {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const headers = { 'x-access-token': running.token, ...(options.headers as object) }
    // Not as one URL, which would be normalised.
    const { hostname, port } = new URL(running.url)
    const req = http.request({ agent: false, ...options, hostname, port, path: address, headers }, async (res) => {
      try {
        const parts: Buffer[] = []
        for await (const part of res) parts.push(part as Buffer)
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(parts) })
      } catch (error) {
        reject(error)
      }
    })
    req.once('error', reject)
    req.end(options.body)
  })
}

/** Counts hits by JavaScript and by the native table. */
export function hotTileHits(): number {
  running.edge.counters.beforeReading()
  return running.edge.counters.hotTileHits
}

/**
 * Repeats a request until it is a hit: a tile is cached only after several requests, and is read again if the kernel does not report its state
 * at once.
 */
export async function untilHot(address: string, headers = {}): Promise<void> {
  let before: number
  do {
    before = hotTileHits()
    await ask(address, { headers })
  } while (hotTileHits() === before)
}
