import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseRunAs } from '@gateway/tools/embedded-postgres/run-as.js'
import { freshDatabase, type TestDatabase } from './database.js'
import { freePort } from './ports.js'
import { ServiceProcess } from './service-process.js'

/** Creates a fresh database behind a separate PgBouncer, configured as in Debian except for the mode. */
export async function pooledDatabase(poolMode: 'session' | 'transaction'): Promise<TestDatabase> {
  const database = await freshDatabase()
  const server = new URL(database.url)
  const dir = await mkdtemp(join(tmpdir(), 'gateway-test-pgbouncer-'))
  await chmod(dir, 0o755)
  const port = await freePort()
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(dir, 'users.txt'),
    pool_mode: poolMode,
    // A session holds its server connection for its whole life, so the pool must fit the connections of all processes.
    default_pool_size: 40,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const databases = `${database.name} = host=${server.hostname} port=${server.port}`
  await writeFile(join(dir, 'pgbouncer.ini'), `[databases]\n${databases}\n[pgbouncer]\n${lines.join('\n')}\n`)
  await writeFile(join(dir, 'users.txt'), `"${server.username}" "${server.password}"\n`)
  const { prefix } = chooseRunAs([dir])
  const bouncer = new ServiceProcess('pgbouncer', [...prefix, 'pgbouncer', join(dir, 'pgbouncer.ini')], process.env)
  await bouncer.line(({ raw }) => raw.includes('process up'))
  const url = new URL(database.url)
  url.port = String(port)
  return {
    ...database,
    url: url.href,
    // Connections kept by the pool belong to no process.
    connections: async () => [],
    drop: async () => {
      bouncer.signal('SIGTERM')
      await bouncer.ended()
      await rm(dir, { recursive: true })
      await database.drop()
    },
  }
}
