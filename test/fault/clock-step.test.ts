import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { useFakeClock } from '../harness/fake-clock.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'

const clock = useFakeClock()

const gateway = useGateway({ edges: 1, postgres: 'proxy', env: clock.environment }, async ({ home, admin }) => {
  await makeTileFolder(join(home, 'basemaps/world/v1'), { maxZoom: 0 })
  await admin.scanSource('maps', 'basemap', join(home, 'basemaps'))
})

const read = async (token: string) => fetch(`${gateway().url}/tiles/world/0/0/0.png?token=${token}`)

test('an isolated edge still serves when its wall clock jumps by more than TOKEN_OFFLINE_SECONDS, and tokens expire by it', async () => {
  gateway().allowErrors(/ECONN|connect|store|database|time|CONNECTION/i)
  const lasting = await gateway().issueToken({ basemap_codes: ['world'] })
  const soon = new Date(Date.now() + 300_000).toISOString()
  const expiring = await gateway().issueToken({ basemap_codes: ['world'], expires_at: soon })
  // Often enough that the native tier serves the tile, too.
  for (let i = 0; i < 10; i++) for (const { token } of [lasting, expiring]) expect((await read(token)).status).toBe(200)
  await gateway().edges[0]?.postgresProxy?.cut()
  for (const step of [600, -600, 3_600]) {
    clock.step(step)
    const answer = await read(lasting.token)
    expect(answer.status).toBe(200)
    expect(Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now() - step * 1000)).toBeLessThan(60_000)
    expect((await read(expiring.token)).status).toBe(step > 300 ? 401 : 200)
    // Longer than the time for which the table of hot tiles continues by itself.
    await sleep(600)
    expect((await read(lasting.token)).status).toBe(200)
  }
  clock.step(0)
  await gateway().edges[0]?.postgresProxy?.restore()
  await gateway().ready()
})
