/** The backup from deploy/README.md, taken and restored while edges keep serving. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { until } from './compose.mjs'
import { WORLD } from './service.mjs'

/** Maximum size of a dump of the demo's store. */
const MOST_BYTES = 64 * 2 ** 20

export async function checkBackup(compose) {
  const [postgres] = compose.containers('postgres')
  const inPostgres = (command, input) => {
    const args = ['exec', ...(input ? ['-i'] : []), postgres, ...command]
    const { status, stdout, stderr } = spawnSync(compose.engine.program, args, { input, maxBuffer: MOST_BYTES })
    assert.equal(status, 0, stderr.toString())
    return stdout
  }
  const statusOf = async (token) => (await compose.ask(`${WORLD}?token=${token}`)).status
  const { id, token } = await compose.admin('POST', '/tokens', { name: 'in the backup', basemap_codes: ['world'] })
  const dump = inPostgres(['pg_dump', '-U', 'gateway', '-Fc', 'gateway'])
  await compose.admin('POST', `/tokens/${id}/disable`)
  const later = await compose.admin('POST', '/tokens', { name: 'after the backup', basemap_codes: ['world'] })
  assert.deepEqual([await statusOf(token), await statusOf(later.token)], [401, 200])

  for (const name of compose.containers('control-plane')) compose.engine.run('stop', name)
  inPostgres(['createdb', '-U', 'gateway', 'gateway_restored'])
  inPostgres(['pg_restore', '-U', 'gateway', '-d', 'gateway_restored', '--exit-on-error'], dump)
  const swap = ['DROP DATABASE gateway WITH (FORCE)', 'ALTER DATABASE gateway_restored RENAME TO gateway']
  inPostgres(['psql', '-U', 'gateway', '-d', 'postgres', ...swap.flatMap((statement) => ['-c', statement])])
  for (const name of compose.containers('control-plane')) compose.engine.run('start', name)
  await until('the token of the backup works again, and the later one is unknown', async () => {
    // Twice per token, because the proxy alternates between the edges.
    const statuses = await Promise.all([token, token, later.token, later.token].map(statusOf))
    return statuses.join() === '200,200,401,401'
  })
  await until('administration works again', async () => (await compose.admin('GET', `/tokens`)).total > 0)
  console.log('backup: restored; edges follow it')
}
