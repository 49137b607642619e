import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import type { Gateway } from '../harness/gateway.js'
import { childrenOf, readProc } from '../harness/processes.js'
import { tilesBuilt } from '../harness/tiles-built.js'
import { useGateway } from '../harness/use-gateway.js'

/** The limit of processor time takes half a minute, and much longer on a busy machine. */
const LONG = { timeout: 1_800_000 }

const LIMIT = /the limit of (?:processor )?time/

const shared = useGateway()

/** Writes a GeoPackage of 28 KB whose only layer is a view that never ends. */
async function writeEndless(folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const db = new DatabaseSync(join(folder, `${name}.gpkg`))
  db.exec(`
    PRAGMA application_id = 1196444487;
    PRAGMA user_version = 10300;
    CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INTEGER, definition TEXT, description TEXT);
    INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]', '');
    CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT, identifier TEXT, description TEXT, last_change TEXT, min_x REAL, min_y REAL, max_x REAL, max_y REAL, srs_id INTEGER);
    INSERT INTO gpkg_contents VALUES ('${name}', 'features', '${name}', '', '2026-01-01T00:00:00Z', -10, -10, 10, 10, 4326);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z INTEGER, m INTEGER);
    INSERT INTO gpkg_geometry_columns VALUES ('${name}', 'geom', 'POINT', 4326, 0, 0);
    CREATE VIEW "${name}" AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
      SELECT x AS fid, x'47500001e61000000101000000000000000000f03f000000000000f03f' AS geom FROM c WHERE x < 0`)
  db.close()
}

async function writePoint(folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const feature = { type: 'Feature', properties: { name }, geometry: { type: 'Point', coordinates: [1, 2] } }
  await writeFile(join(folder, `${name}.geojson`), JSON.stringify(feature))
}

/** Returns the processes that convert vectors, of the control plane and the edge's workers, with what they have started. */
function converters(gateway: Gateway): number[] {
  const below = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...below(child)])
  const isOne = (pid: number) => /conversion-process|ogr2ogr/.test(readProc(pid, 'cmdline'))
  return [gateway.controlPlane.process.pid, ...gateway.edges.map((edge) => edge.process.pid)]
    .flatMap(below)
    .filter(isOne)
}

const vector = (gateway: Gateway, code: string) => gateway.admin.expect<AdminVector>(`/vectors/${code}`)
const none = { interval: 200, timeout: 60_000 }

test('a source that hangs is recorded with the limit that it meets, and the others go on meanwhile', LONG, async () => {
  const gateway = shared()
  const folder = join(gateway.home, 'hanging')
  await writeEndless(folder, 'endless')
  await gateway.admin.scanSource('hanging', 'vector', folder)
  await expect.poll(() => converters(gateway).length, none).toBeGreaterThan(0)

  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const ask = (path: string) => fetch(`${gateway.url}${path}${path.includes('?') ? '&' : '?'}token=${token}`)
  const hanging = ask('/ogc/collections/endless/items')
  await writePoint(join(gateway.home, 'honest'), 'honest')
  await gateway.admin.scanSource('honest', 'vector', join(gateway.home, 'honest'))
  expect((await tilesBuilt(gateway, 'honest')).tiles).toMatchObject({ status: 'ready' })
  expect((await ask('/ogc/collections/honest/items')).status).toBe(200)
  // A conversion at the edge, where the index of the other one is being made.
  await expect.poll(async () => (await ask('/vectors/honest.gpkg')).status, none).toBe(200)
  await hanging

  expect((await tilesBuilt(gateway, 'endless')).tiles).toMatchObject({
    status: 'failed',
    // A busy machine gives it little processor time.
    message_code: expect.stringMatching(/^vector_limit_(?:processor|time)$/),
    message: expect.stringMatching(LIMIT),
  })
  expect(existsSync(join(gateway.dataDir, 'vector-builds', 'endless'))).toBe(false)
  await expect.poll(() => converters(gateway), { ...none, timeout: 900_000 }).toEqual([])
  const refused = await ask('/ogc/collections/endless/items')
  expect(refused.status).toBe(404)
  expect(await refused.text()).toMatch(LIMIT)
})

test.each(['withdrawn', 'deleted'])('a vector that is %s ends its build and its conversions', LONG, async (how) => {
  const gateway = shared()
  const code = `endless-${how}`
  const folder = join(gateway.home, code)
  await writeEndless(folder, code)
  await gateway.admin.scanSource(code, 'vector', folder)
  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const asked = fetch(`${gateway.url}/ogc/collections/${code}/items?token=${token}`)
  const running = () => converters(gateway).filter((pid) => readProc(pid, 'cmdline').includes('conversion-process'))
  await expect.poll(() => running().length, none).toBe(2)
  if (how === 'deleted') await gateway.admin.expect(`/vectors/${code}`, { method: 'DELETE' })
  else await gateway.admin.expect(`/vectors/${code}`, { method: 'PATCH', body: { withdrawn: true } })
  await expect.poll(() => converters(gateway), none).toEqual([])
  expect((await asked).status).toBe(503)
  await expect.poll(() => existsSync(join(gateway.dataDir, 'vector-builds', code)), none).toBe(false)
  if (how === 'withdrawn') expect((await vector(gateway, code)).tiles.status).toBe('none')
})
