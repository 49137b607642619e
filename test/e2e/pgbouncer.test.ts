import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EXIT_REFUSED } from '@gateway/core/settings/refusal.js'
import { expect, test } from 'vitest'
import { environment } from '../harness/environment.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { pooledDatabase } from '../harness/pgbouncer.js'
import { freePort } from '../harness/ports.js'
import { ServiceProcess } from '../harness/service-process.js'
import { startGateway } from '../harness/start-gateway.js'

test('migrations, scans, notifications and tiles work behind a PgBouncer in session mode', async () => {
  const gateway = await startGateway({ database: () => pooledDatabase('session') })
  await makeTileFolder(join(gateway.home, 'basemaps/world/v1'), { maxZoom: 0 })
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'basemaps'))
  const { id, token } = await gateway.issueToken({ basemap_codes: ['world'] })
  const read = async () => (await fetch(`${gateway.url}/tiles/world/0/0/0.png?token=${token}`)).status
  expect(await read()).toBe(200)
  const { confirmed } = await gateway.admin.expect<{ confirmed: unknown[] }>(`/tokens/${id}/disable`, {
    method: 'POST',
  })
  expect(confirmed).toHaveLength(1)
  expect(await read()).toBe(401)
  await gateway.stop()
})

test('a PgBouncer in transaction mode is refused with one line that names the remedy', async () => {
  const database = await pooledDatabase('transaction')
  const main = fileURLToPath(new URL('../../services/control-plane/dist/main.js', import.meta.url))
  const env = environment(randomUUID(), {
    CONFIG_FILE: '/nonexistent/service.env',
    CONTROL_PORT: String(await freePort()),
    DATABASE_URL: database.url,
    ADMIN_TOKEN: 'some-admin-token',
    ADMIN_PASSWORD: 'some-admin-password',
  })
  const controlPlane = new ServiceProcess('control plane', [process.execPath, main], env)
  expect(await controlPlane.ended()).toEqual({ code: EXIT_REFUSED, signal: null })
  expect(controlPlane.lines.map(({ raw }) => raw)).toEqual([expect.stringContaining('pool_mode = session')])
  await database.drop()
})
