import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type NewVersion, upsertBasemap, upsertVersion } from '@gateway/store/basemaps.js'
import type { Sql } from '@gateway/store/connect.js'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { upsertVectors } from '@gateway/store/vectors.js'

const TILE = Buffer.from('89504e470d0a1a0a', 'hex')

/** Inserts the result of a scan: basemap `world` with version `v1` in folders and `v2` as an archive, a GeoJSON and a shapefile. */
export async function fillCatalog(sql: Sql, home: string): Promise<void> {
  const maps = path.join(home, 'maps')
  const vectors = path.join(home, 'vectors')
  write(maps, 'world/v1/metadata.json', '{"name":"World"}')
  for (let x = 0; x < 4; x++)
    for (let y = 0; y < 4; y++)
      write(maps, `world/v1/2/${x}/${y}.png`, Buffer.concat([TILE, Buffer.alloc(x * 1000, y)]))
  write(maps, 'world/v1/notes.txt', 'not a tile')
  write(maps, 'world/v1/2/0/.half.tmp', 'half')
  write(maps, 'world/v2.mbtiles', Buffer.alloc(300_000, 'm'))
  write(vectors, 'roads/main.geojson', '{"type":"FeatureCollection","features":[]}')
  for (const extension of ['shp', 'shx', 'dbf', 'txt']) write(vectors, `lakes.${extension}`, `the ${extension}`)
  await sql.begin(async (tx) => {
    const source = { name: undefined, enabled: undefined }
    await upsertScanSource(tx, { ...source, code: 'maps', kind: 'basemap', path: maps })
    await upsertScanSource(tx, { ...source, code: 'vectors', kind: 'vector', path: vectors })
    await upsertBasemap(tx, { code: 'world', name: 'World', tileBaseUrl: 'http://127.0.0.1:8910', sourceCode: 'maps' })
    await upsertVersion(tx, 'world', version('v1', 'xyz', path.join(maps, 'world/v1')))
    await upsertVersion(tx, 'world', version('v2', 'mbtiles', path.join(maps, 'world/v2.mbtiles')))
    const common = { size: 1, modifiedAt: new Date(), fingerprint: 'f', sourceCode: 'vectors', facts: null }
    await upsertVectors(tx, [
      { ...common, ...vector('main', 'geojson', vectors, 'roads/main.geojson') },
      { ...common, ...vector('lakes', 'shapefile', vectors, 'lakes.shp') },
    ])
  })
}

function write(root: string, name: string, content: string | Buffer): void {
  mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
  writeFileSync(path.join(root, name), content)
}

/** A version as found by a scan. */
export function version(label: string, storage: 'xyz' | 'mbtiles', file: string): NewVersion {
  return {
    version: label,
    storage,
    format: 'png',
    extension: 'png',
    tileSize: 256,
    minZoom: 2,
    maxZoom: 2,
    bounds: [-180, -85, 180, 85],
    boundsDerived: false,
    rowsFromNorth: false,
    name: null,
    attribution: null,
    description: null,
    vectorLayers: null,
    tileMatrixSet: 'WebMercatorQuad',
    metadata: {},
    path: file,
    fingerprint: label,
  }
}

function vector(code: string, kind: 'geojson' | 'shapefile', root: string, relativePath: string) {
  return {
    code,
    name: code,
    kind,
    relativePath,
    fileName: path.basename(relativePath),
    path: path.join(root, relativePath),
  }
}
