import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { OwnPostgres } from '../harness/own-postgres.js'
import { SmallDisk } from '../harness/small-disk.js'
import { startGateway } from '../harness/start-gateway.js'

/** Size for a new cluster of about 40 MB and a log of changes of the same size. */
const disk = await SmallDisk.mount(160)
afterAll(() => disk?.remove())

test('a store with a full disk says so, is not ready, can still be read, and recovers by itself', async ({
  annotate,
}) => {
  if (disk === null) {
    await annotate('no file system can be mounted here: not tested')
    return
  }
  const gateway = await startGateway({ database: async () => (await OwnPostgres.start(disk.path)).database })
  await makeTileFolder(join(gateway.home, 'basemaps/world/v1'), { maxZoom: 0 })
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'basemaps'))
  const { token } = await gateway.issueToken({ basemap_codes: ['world'] })
  const read = async (as: string) => (await fetch(`${gateway.url}/tiles/world/0/0/0.png?token=${as}`)).status
  const issue = () => gateway.admin.call<{ error: string }>('/tokens', { body: { name: 'x'.repeat(150) } })
  const ready = () => fetch(`${gateway.controlPlane.url}/ready`)

  await disk.fill()
  let answer = await issue()
  // Writes still succeed as long as they fit into existing pages.
  while (answer.status === 200) answer = await issue()
  expect([answer.status, answer.body]).toEqual([
    503,
    { error: expect.stringMatching(/^the disk of the store is full; nothing was changed/) },
  ])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  const state = await ready()
  expect([state.status, await state.json()]).toEqual([503, { error: 'the disk of the store is full' }])
  expect(await read(token)).toBe(200)
  expect((await gateway.admin.call('/tokens')).status).toBe(200)
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(200)

  await disk.free()
  while ((await ready()).status !== 200) await sleep(50)
  expect((await issue()).status).toBe(200)
  await gateway.stop()
})
