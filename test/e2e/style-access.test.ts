import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { Agent, request } from 'undici'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const STYLE = {
  version: 8,
  glyphs: 'gateway://fonts',
  sprite: 'gateway://sprites/city',
  sources: {
    world: { type: 'raster', url: 'gateway://basemaps/world', tileSize: 256 },
    places: { type: 'geojson', data: 'gateway://vectors/places' },
  },
  layers: [{ id: 'world', type: 'raster', source: 'world' }],
}
const PLACE = { type: 'Feature', properties: { name: '南京' }, geometry: { type: 'Point', coordinates: [118.8, 32] } }
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>'

/** All resources of a map that one token opens. */
const PARTS = [
  '/styles/city/style.json',
  '/styles/city/sprite.png',
  '/fonts/Noto%20Sans%20Regular/0-255.pbf',
  '/tiles/world/0/0/0.png',
  '/ogc/collections/places/items',
  '/vectors/places.geojson',
]
const TOKENS = 5
/** Number of concurrent requests for each resource. */
const LANES = 3

const gateway = useGateway({ edgeWorkers: 2 }, async (started) => {
  const write = async (name: string, content: string | Uint8Array) => {
    const file = join(started.home, name)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, content)
  }
  const tile = await sharp({ create: { width: 256, height: 256, channels: 3, background: '#446' } })
    .png()
    .toBuffer()
  await write('maps/world/v1/0/0/0.png', tile)
  await write('vectors/places.geojson', JSON.stringify({ type: 'FeatureCollection', features: [PLACE] }))
  await write('styles/city/style.json', JSON.stringify(STYLE))
  await write('styles/city/sprite/stop.svg', ICON)
  await started.admin.scanSource('maps', 'basemap', join(started.home, 'maps'))
  await started.admin.scanSource('vectors', 'vector', join(started.home, 'vectors'))
  await started.admin.scanSource('styles', 'style', join(started.home, 'styles'))
})

test('no part of a map is served once the disable of its token is confirmed, under continuous requests', async () => {
  for (let round = 0; round < TOKENS; round++) {
    const { id, token } = await gateway().issueToken({ basemap_codes: ['world'], vector_codes: ['places'] })
    const agent = new Agent({ connections: PARTS.length * LANES })
    const ask = async (path: string) => {
      const { statusCode, body } = await request(gateway().url + path, {
        dispatcher: agent,
        headers: { 'x-access-token': token },
      })
      await body.dump()
      return statusCode
    }
    for (const path of PARTS) expect([path, await ask(path)]).toEqual([path, 200])
    const served = new Map(PARTS.map((path) => [path, 0]))
    const servedAfterwards: string[] = []
    let confirmed = false
    let refusedOf = 0
    const lanes = PARTS.flatMap((path) =>
      Array.from({ length: LANES }, async () => {
        // Each lane ends after ten refusals since the confirmation.
        for (let refused = 0; refused < 10; ) {
          const wasConfirmed = confirmed
          const status = await ask(path)
          if (status === 200) served.set(path, (served.get(path) ?? 0) + 1)
          if (wasConfirmed && status !== 401) servedAfterwards.push(`${path} ${status}`)
          if (wasConfirmed) refused++
        }
        refusedOf++
      }),
    )
    // The disable coincides with requests in progress, of every part.
    await expect.poll(() => Math.min(...served.values())).toBeGreaterThan(0)
    const answer = await gateway().admin.expect<{ pending: unknown[] }>(`/tokens/${id}/disable`, { method: 'POST' })
    confirmed = true
    await Promise.all(lanes)
    await agent.close()
    expect(answer.pending).toEqual([])
    expect(servedAfterwards).toEqual([])
    expect(refusedOf).toBe(PARTS.length * LANES)
  }
})
