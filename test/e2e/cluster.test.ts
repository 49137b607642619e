import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { askEverywhere } from '../harness/ask-everywhere.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import type { Gateway } from '../harness/gateway.js'
import { useGateway } from '../harness/use-gateway.js'

const WORKERS = 2

describe.each([
  ['Redis', true],
  ['Postgres notifications', false],
])('two edges of several processes over %s', (_, redis) => {
  const gateway = useGateway({ edges: 2, edgeWorkers: WORKERS, redis }, async (started) => {
    await makeTileFolder(join(started.home, 'basemaps/world/v1'), { maxZoom: 0 })
    await makeTileFolder(join(started.home, 'basemaps/world/v2'), { maxZoom: 0, shade: 50 })
    await started.admin.scanSource('maps', 'basemap', join(started.home, 'basemaps'))
  })

  test('every process registers itself', async () => {
    const { items } = await gateway().admin.expect<{
      items: { pid: number; host: string; applied_revision: number }[]
    }>('/edges')
    expect(new Set(items.map((edge) => edge.pid)).size).toBe(2 * WORKERS)
  })

  test('a disabled token is refused by every process of both edges once the call has returned', async () => {
    const { id, token } = await gateway().issueToken({ basemap_codes: ['world'] })
    const path = `/tiles/world/0/0/0.png?token=${token}`
    expect(await statusesEverywhere(gateway(), path)).toEqual(new Set([200]))
    const { confirmed, pending } = await gateway().admin.expect<{ confirmed: unknown[]; pending: unknown[] }>(
      `/tokens/${id}/disable`,
      { method: 'POST' },
    )
    expect(confirmed).toHaveLength(2 * WORKERS)
    expect(pending).toEqual([])
    expect(await statusesEverywhere(gateway(), path)).toEqual(new Set([401]))
  })

  test('`current` and the short route follow a changed default version on every process once the call has returned', async () => {
    const { token } = await gateway().issueToken({ basemap_codes: ['world'] })
    for (const version of ['v1', 'v2', 'v1']) {
      await gateway().admin.expect('/basemaps/world/default-version', { body: { version } })
      const current = await tagsEverywhere(gateway(), `/tiles/world/current/0/0/0.png?token=${token}`)
      const wanted = await tagsEverywhere(gateway(), `/tiles/world/${version}/0/0/0.png?token=${token}`)
      expect(wanted.size).toBe(1)
      expect(current).toEqual(wanted)
      expect(await tagsEverywhere(gateway(), `/tiles/world/0/0/0.png?token=${token}`)).toEqual(wanted)
    }
  })

  test('a killed process is replaced, and the others continue', async () => {
    const edge = gateway().edges[0]
    if (edge === undefined) throw new Error('there is an edge')
    const [victim, ...others] = edge.process.workers()
    process.kill(victim as number, 'SIGKILL')
    await until(() => edge.process.workers().length === WORKERS && !edge.process.workers().includes(victim as number))
    expect(edge.process.workers()).toEqual(expect.arrayContaining(others))
    gateway().allowErrors(/worker|process/i)
    await gateway().ready()
    const { token } = await gateway().issueToken({ basemap_codes: ['world'] })
    expect(await statusesEverywhere(gateway(), `/tiles/world/0/0/0.png?token=${token}`)).toEqual(new Set([200]))
  })
})

async function statusesEverywhere(gateway: Gateway, path: string): Promise<Set<number>> {
  return new Set((await askEverywhere(gateway, path)).map((answer) => answer.status))
}

async function tagsEverywhere(gateway: Gateway, path: string): Promise<Set<string>> {
  return new Set((await askEverywhere(gateway, path)).map((answer) => String(answer.etag)))
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}
