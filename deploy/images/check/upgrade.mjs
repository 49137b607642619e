/** Upgrade, rollback and second upgrade while callers read tiles: no request may fail, and no written data may be lost. */
import assert from 'node:assert/strict'
import { until } from './compose.mjs'
import { seenByProxy, underLoad } from './faults.mjs'
import { slice, WORLD } from './service.mjs'

const FORTH = ['control-plane', 'edge-1', 'edge-2']
const BACK = FORTH.toReversed()

export async function checkUpgrade(compose, before) {
  await compose.start(before)
  const kept = await compose.admin('POST', '/tokens', { name: 'kept', basemap_codes: ['*'] })
  const ended = await compose.admin('POST', '/tokens', { name: 'ended', basemap_codes: ['world'] })
  await compose.admin('POST', `/tokens/${ended.id}/disable`)
  const layers = []
  const moves = [
    ['to the new version', FORTH, 'latest'],
    ['back to the version before', BACK, before],
    ['to the new version again', FORTH, 'latest'],
  ]
  for (const [what, services, version] of moves) {
    await underLoad(compose, what, async () => {
      for (const service of services) {
        await compose.replace(service, version)
        await seenByProxy()
      }
    })
    // Written by one version, read by the other.
    const layer = `layer-${layers.length}`
    const job = await slice(compose, layer, 2)
    await until(`${layer} is sliced`, async () => (await job()).status === 'succeeded')
    layers.push(layer)
    const statuses = []
    for (const code of layers)
      statuses.push((await compose.ask(`/tiles/${code}/0/0/0.webp?token=${kept.token}`)).status)
    // Twice, because the proxy alternates between the edges.
    for (let i = 0; i < 2; i++) {
      statuses.push((await compose.ask(`${WORLD}?token=${kept.token}`)).status)
      assert.equal((await compose.ask(`${WORLD}?token=${ended.token}`)).status, 401)
    }
    assert.deepEqual(new Set(statuses), new Set([200]), `${what}: ${statuses}`)
    const { items } = await compose.admin('GET', '/tokens')
    assert.deepEqual(items.filter(({ id }) => [kept.id, ended.id].includes(id)).length, 2)
    const { items: jobs } = await compose.admin('GET', '/slice/jobs')
    assert.deepEqual(jobs.map(({ target_code }) => target_code).sort(), layers)
    console.log(`upgrade: ${what}: tokens, jobs and layers are there`)
  }
}
