/** The first steps of a user: tiles, the console, a token that ends, a slice job; and what the doctor finds. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { until } from './compose.mjs'

export const WORLD = '/tiles/world/current/0/0/0.webp'

export async function checkService(compose) {
  const tile = await compose.ask(`${WORLD}?token=${compose.token}`)
  assert.equal(tile.status, 200)
  assert.equal(tile.headers['content-type'], 'image/webp')
  const basic = `Basic ${Buffer.from(`admin:${compose.secret('admin-password')}`).toString('base64')}`
  const console_ = await compose.ask('/admin/', { headers: { authorization: basic } })
  assert.match(console_.body.toString(), /<div id="root"/)
  assert.equal((await compose.ask('/admin/')).status, 401)
  assert.equal((await compose.ask('/metrics')).status, 404)
  console.log('service: tile, console')

  const { id, token } = await compose.admin('POST', '/tokens', { name: 'check', basemap_codes: ['world'] })
  for (let i = 0; i < 8; i++) assert.equal((await compose.ask(`${WORLD}?token=${token}`)).status, 200)
  const { confirmed, pending } = await compose.admin('POST', `/tokens/${id}/disable`)
  assert.deepEqual([new Set(confirmed.map(({ host }) => host)).size, pending], [2, []])
  for (let i = 0; i < 8; i++) assert.equal((await compose.ask(`${WORLD}?token=${token}`)).status, 401)
  console.log('service: a disabled token is refused by both edges')

  const job = await slice(compose, 'first-layer', 4)
  await until('the slice job succeeds', async () => (await job()).status === 'succeeded')
  assert.equal((await compose.ask(`/tiles/first-layer/0/0/0.webp?token=${compose.token}`)).status, 200)
  console.log('service: sliced by GDAL, and served')
  checkDoctor(compose)
}

/** A healthy container has no fault and no warning. */
function checkDoctor(compose) {
  for (const name of ['edge-1', 'edge-2', 'control-plane'].flatMap((service) => compose.containers(service))) {
    const { status, stdout, stderr } = spawnSync(compose.engine.program, ['exec', name, 'doctor'], { encoding: 'utf8' })
    assert.equal(status, 0, `the doctor in ${name}: ${stdout}${stderr}`)
  }
  console.log('service: the doctor finds every container healthy')
}

/** Submits a job of the demo image; the returned function polls it. */
export async function slice(compose, target_code, zoom_max) {
  const headers = { 'x-access-token': compose.token, 'content-type': 'application/json' }
  const source_path = '/data/demo/imagery/blue-marble.jpg'
  const body = JSON.stringify({ target_code, name: target_code, source_path, zoom_max })
  const submitted = await compose.ask('/api/v1/slice/jobs', { method: 'POST', headers, body })
  assert.equal(submitted.status, 202, submitted.body.toString())
  const { id } = JSON.parse(submitted.body)
  return async () => JSON.parse((await compose.ask(`/api/v1/slice/jobs/${id}`, { headers })).body)
}
