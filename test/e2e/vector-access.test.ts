import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { expect, test } from 'vitest'
import { tilesBuilt } from '../harness/tiles-built.js'
import { useGateway } from '../harness/use-gateway.js'

/** Everything that one token opens of a vector. */
const PARTS = [
  '/vectors/towns/tiles/0/0/0.mvt',
  '/vectors/towns/tilejson.json',
  '/ogc/collections/towns/tiles/WebMercatorQuad/0/0/0',
  '/ogc/collections/towns/items',
  '/ogc/collections/towns/items?f=csv&filter=edit%3E%3D0',
  '/ogc/collections/towns/items/1',
  '/ogc/collections/towns/queryables',
  '/vectors/towns/download',
  '/vectors/towns.gpkg',
]
const TOKENS = 5
/** Requests that are under way at any time, for each part. */
const LANES = 2

const gateway = useGateway({ edgeWorkers: 2 }, async (started) => {
  await mkdir(join(started.home, 'vectors'))
  await writeTowns(started.home, 0)
  await started.admin.scanSource('vectors', 'vector', join(started.home, 'vectors'))
  await tilesBuilt(started, 'towns')
})

/** Replaces the file as an editor does: at once. */
async function writeTowns(home: string, edit: number): Promise<void> {
  const features = Array.from({ length: 500 }, (_, id) => ({
    type: 'Feature',
    id,
    properties: { name: `镇 ${id}`, edit },
    geometry: { type: 'Point', coordinates: [(id % 90) + (edit % 7), (id % 80) - 40] },
  }))
  const file = join(home, 'vectors/towns.geojson')
  await writeFile(`${file}.new`, JSON.stringify({ type: 'FeatureCollection', features }))
  await rename(`${file}.new`, file)
}

/** Replaces and scans the file, and waits until all of it is served, again and again: twice, and until the function that it returns is called. */
function edits(): () => Promise<number> {
  let [isOver, edit] = [false, 0]
  const ended = (async () => {
    const { token } = await gateway().issueToken({ vector_codes: ['towns'] })
    while (!isOver || edit < 2) {
      await writeTowns(gateway().home, ++edit)
      await gateway().admin.rescan('vectors')
      await tilesBuilt(gateway(), 'towns')
      // On a busy machine a conversion takes longer than a request waits.
      for (const path of PARTS) await served(path, token)
    }
    return edit
  })()
  return () => {
    isOver = true
    return ended
  }
}

async function served(path: string, token: string): Promise<void> {
  for (;;) {
    const answer = await fetch(gateway().url + path, { headers: { 'x-access-token': token } })
    await answer.arrayBuffer()
    if (answer.status === 200) return
    expect(answer.status).toBe(503)
  }
}

test('nothing of a vector is served once the disable of its token is confirmed, while the file is edited again and again', async () => {
  const end = edits()
  for (let round = 0; round < TOKENS; round++) {
    const { id, token } = await gateway().issueToken({ vector_codes: ['towns'] })
    const agent = new Agent({ connections: PARTS.length * LANES })
    const ask = async (path: string) => {
      const answer = await request(gateway().url + path, { dispatcher: agent, headers: { 'x-access-token': token } })
      await answer.body.dump()
      return answer.statusCode
    }
    const times = new Map(PARTS.map((path) => [path, 0]))
    const servedAfterwards: string[] = []
    let confirmed = false
    const lanes = PARTS.flatMap((path) =>
      Array.from({ length: LANES }, async () => {
        // Each lane ends when it has been refused ten times after the confirmation.
        for (let refused = 0; refused < 10; ) {
          const wasConfirmed = confirmed
          const status = await ask(path)
          if (status === 200) times.set(path, (times.get(path) ?? 0) + 1)
          if (wasConfirmed && status !== 401) servedAfterwards.push(`${path} ${status}`)
          if (wasConfirmed) refused++
        }
      }),
    )
    // The disable meets requests that are under way: each part was served before, in spite of the edits.
    const notServed = () => [...times].flatMap(([path, count]) => (count === 0 ? [path] : []))
    await expect.poll(notServed, { timeout: 120_000 }).toEqual([])
    const answer = await gateway().admin.expect<{ pending: unknown[] }>(`/tokens/${id}/disable`, { method: 'POST' })
    confirmed = true
    await Promise.all(lanes)
    await agent.close()
    expect([answer.pending, servedAfterwards]).toEqual([[], []])
  }
  expect(await end()).toBeGreaterThan(1)
}, 600_000)
