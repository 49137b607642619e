import { appendFile, chmod, chown, copyFile, cp, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { currentRevision } from '@gateway/store/change-log.js'
import { openStore } from '@gateway/store/connect.js'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'
import { type TestDatabase, withConnection } from './database.js'

/** A Postgres server for one test, which may be stopped and may fail over to its replica. */
export class OwnPostgres {
  readonly #home: string
  #server: EmbeddedPostgres

  private constructor(home: string, server: EmbeddedPostgres) {
    this.#home = home
    this.#server = server
  }

  /** @param below parent directory of its data */
  static async start(below = tmpdir()): Promise<OwnPostgres> {
    const home = await mkdtemp(join(below, 'gateway-test-own-postgres-'))
    // The server runs as another user.
    await chmod(home, 0o711)
    return new OwnPostgres(home, await serve(join(home, 'primary')))
  }

  /** The address of the server that currently runs. */
  get address(): { readonly host: string; readonly port: number } {
    const { hostname, port } = new URL(this.#server.url)
    return { host: hostname, port: Number(port) }
  }

  get database(): TestDatabase {
    return {
      url: this.#server.url,
      name: 'postgres',
      connections: async () => [],
      revision: () => this.#query(currentRevision),
      backUp: () => Promise.reject(new Error('copies are made of databases of the shared server')),
      drop: async () => {
        await this.#server.stop()
        await rm(this.#home, { recursive: true })
      },
    }
  }

  /** Makes the server accept TLS connections too. @param certificate paths of the certificate and its key */
  async offerTls(certificate: { readonly certificate: string; readonly key: string }): Promise<void> {
    const data = join(this.#home, 'primary/data')
    const { uid, gid } = await stat(data)
    for (const [name, source] of [
      ['server.crt', certificate.certificate],
      ['server.key', certificate.key],
    ] as const) {
      await copyFile(source, join(data, name))
      await chmod(join(data, name), 0o600)
      await chown(join(data, name), uid, gid)
    }
    await this.#query(async (sql) => {
      await sql`ALTER SYSTEM SET ssl = on`
      await sql`SELECT pg_reload_conf()`
    })
  }

  /** Ends the primary and starts a replica that has all of its data, and can only be read. */
  async failOver(): Promise<void> {
    await this.#server.stop()
    const replica = join(this.#home, 'replica')
    await cp(join(this.#home, 'primary'), replica, { recursive: true })
    await writeFile(join(replica, 'data/standby.signal'), '')
    this.#server = await serve(replica)
  }

  /**
   * Starts a streaming replica next to the running server, from a base backup like that of pg_basebackup, which the package of the embedded
   * Postgres lacks.
   */
  async startReplica(): Promise<EmbeddedPostgres> {
    const [from, to] = [join(this.#home, 'primary'), join(this.#home, 'streaming')]
    await mkdir(to, { recursive: true })
    await copyFile(join(from, 'password'), join(to, 'password'))
    const session = openStore(this.#server.url, { applicationName: 'backup', maxConnections: 1 })
    try {
      await session`SELECT pg_backup_start('replica', true)`
      const leftOut = /^(postmaster\.(pid|opts)|pg_(wal|replslot|stat_tmp)\/.+)$/
      await cp(join(from, 'data'), join(to, 'data'), {
        recursive: true,
        filter: (file) => !leftOut.test(relative(join(from, 'data'), file)),
      })
      const [stopped] = await session<{ labelfile: string }[]>`SELECT labelfile FROM pg_backup_stop(false)`
      await writeFile(join(to, 'data/backup_label'), stopped?.labelfile ?? '')
    } finally {
      await session.end()
    }
    await writeFile(join(to, 'data/standby.signal'), '')
    const { hostname, port, username, password } = new URL(this.#server.url)
    const source = `host=${hostname} port=${port} user=${username} password=${password}`
    await appendFile(join(to, 'data/postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
    await chmod(join(to, 'data'), 0o700)
    return serve(to)
  }

  /** Promotes the replica to primary. */
  async promote(): Promise<void> {
    await this.#query((sql) => sql`SELECT pg_promote()`)
  }

  #query<T>(work: Parameters<typeof withConnection<T>>[1]): Promise<T> {
    return withConnection(this.#server.url, work)
  }
}

function serve(dir: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dir,
    durable: false,
    log: (level, message) => {
      if (level === 'error') console.error(`postgres: ${message}`)
    },
    onLost: (reason) => console.error(`postgres is lost: ${reason}`),
  })
}
