import { rm } from 'node:fs/promises'
import { openStore } from '@gateway/store/connect.js'
import { expect, test } from 'vitest'
import { makeCertificate } from '../harness/certificates.js'
import type { Gateway } from '../harness/gateway.js'
import { OwnPostgres } from '../harness/own-postgres.js'
import { startRedis, startSentinel } from '../harness/redis.js'
import { startGateway } from '../harness/start-gateway.js'
import { TcpProxy } from '../harness/tcp-proxy.js'

/** Issues a token, disables it, and returns the number of edge processes that confirmed. */
async function disable({ admin }: Gateway): Promise<number> {
  const { id } = await admin.issueToken()
  const { confirmed } = await admin.expect<{ confirmed: unknown[] }>(`/tokens/${id}/disable`, { method: 'POST' })
  return confirmed.length
}

const ready = async ({ controlPlane }: Gateway) =>
  (await (await fetch(`${controlPlane.url}/ready`)).json()) as { bus?: string }

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Timeout for starting several servers in sequence and copying one: half a minute, and much longer on a busy machine. */
const MANY_STARTS = { timeout: 240_000 }

test(
  'Postgres and Redis with TLS: certificates are verified, and every connection is encrypted',
  MANY_STARTS,
  async () => {
    const certificate = await makeCertificate()
    const other = await makeCertificate()
    const postgres = await OwnPostgres.start()
    await postgres.offerTls(certificate)
    const redis = await startRedis(process.env, (port) => ({
      port: 0,
      'tls-port': port,
      'tls-cert-file': certificate.certificate,
      'tls-key-file': certificate.key,
      'tls-ca-cert-file': certificate.authority,
      'tls-auth-clients': 'no',
    }))
    const address = (host: string, mode: string, authority: string) => {
      const url = new URL(postgres.database.url)
      url.hostname = host
      url.search = new URLSearchParams({ sslmode: mode, sslrootcert: authority }).toString()
      return url.href
    }
    const connects = async (host: string, mode: string, authority: string) => {
      const sql = openStore(address(host, mode, authority), { applicationName: 'test', maxConnections: 1 })
      const outcome = await sql`SELECT 1`.then(
        () => 'connected',
        (error: NodeJS.ErrnoException) => error.code,
      )
      await sql.end({ timeout: 1 })
      return outcome
    }
    expect(await connects('localhost', 'verify-full', certificate.authority)).toBe('connected')
    expect(await connects('localhost', 'verify-full', other.authority)).toMatch(/CERT|SIGNATURE|VERIFY/)
    expect(await connects('127.0.0.1', 'verify-full', certificate.authority)).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
    expect(await connects('127.0.0.1', 'verify-ca', certificate.authority)).toBe('connected')

    const url = address('localhost', 'verify-full', certificate.authority)
    const env = { REDIS_URL: `rediss://localhost:${redis.port}`, NODE_EXTRA_CA_CERTS: certificate.authority }
    const gateway = await startGateway({ database: async () => ({ ...postgres.database, url }), env })
    // The bus is up after the second ping since the start was answered.
    await expect.poll(() => ready(gateway)).toMatchObject({ bus: 'up', bus_medium: 'redis' })
    expect(await disable(gateway)).toBe(1)
    const sql = openStore(url, { applicationName: 'test', maxConnections: 1 })
    const connections = await sql<{ ssl: boolean; n: number }[]>`
    SELECT ssl, count(*)::int AS n FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE application_name LIKE 'gateway-%' GROUP BY ssl`
    await sql.end()
    expect(connections).toEqual([{ ssl: true, n: expect.any(Number) }])
    await gateway.stop()
    await redis.stop()
    for (const { dir } of [certificate, other]) await rm(dir, { recursive: true })
  },
)

test(
  'behind Redis Sentinels the bus follows a fail-over, and behind several Postgres hosts the store does',
  MANY_STARTS,
  async () => {
    const postgres = await OwnPostgres.start()
    const first = await TcpProxy.start(postgres.address)
    // Nothing listens here before the fail-over.
    const second = await TcpProxy.start({ host: '127.0.0.1', port: 1 })
    const master = await startRedis()
    const replica = await startRedis(process.env, () => ({ replicaof: `127.0.0.1 ${master.port}` }))
    const sentinel = await startSentinel(master)
    const { username, password } = new URL(postgres.database.url)
    const hosts = [first, second].map(({ port }) => `127.0.0.1:${port}`).join(',')
    const gateway = await startGateway({
      database: () => Promise.resolve(postgres.database),
      env: {
        DATABASE_URL: `postgres://${username}:${password}@${hosts}/postgres?target_session_attrs=read-write`,
        REDIS_URL: `redis+sentinel://127.0.0.1:${sentinel.port}/main`,
      },
    })
    expect(await disable(gateway)).toBe(1)

    await master.process.kill()
    await replica.process.line(isPromoted)
    await until(async () => (await disable(gateway)) === 1)

    await postgres.failOver()
    second.retarget(postgres.address)
    await postgres.promote()
    await until(async () => (await disable(gateway)) === 1)

    gateway.allowErrors(/store|Postgres|bus/i)
    await gateway.stop()
    await sentinel.stop()
    await Promise.all([master.stop(), replica.stop(), first.close(), second.close()])
  },
)

function isPromoted({ raw }: { readonly raw: string }): boolean {
  return raw.includes('MASTER MODE enabled')
}
