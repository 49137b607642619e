import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, renameSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withConnection } from '../harness/database.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import type { Gateway } from '../harness/gateway.js'
import { freePort } from '../harness/ports.js'
import { ServiceProcess } from '../harness/service-process.js'
import { startGateway } from '../harness/start-gateway.js'
import { options, say } from './options.js'

/** Factor by which all durations of the alert rules are shortened, since the rules wait for minutes. */
const FASTER = 20
/** Maximum time until an alert fires or ends; the rules need less than a minute. */
const ENDED_WITHIN_MS = 300_000
const MONITORING = join(import.meta.dirname, '../../deploy/monitoring')

let gateway: Gateway
let home: string
let prometheus: ServiceProcess
let prometheusUrl: string
let token: string
/** Responds to every request except those to /silent. */
const receiver = createServer((req, res) => {
  if (req.url !== '/silent') req.resume().on('end', () => res.end('so'))
})

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-monitoring-'))
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const env = { CALLBACK_ALLOW: '127.0.0.0/8', RETRY_WAITS: '600', TOKEN_OFFLINE_SECONDS: '5' }
  gateway = await startGateway({ edges: 2, edgeWorkers: 2, redis: 'proxy', postgres: 'proxy', env })
  // This test provokes errors.
  gateway.allowErrors(/./)
  await makeTileFolder(join(home, 'maps/world/v1'), { maxZoom: 3 })
  await makeGeojson(join(home, 'vectors/small.geojson'), 10)
  await gateway.admin.scanSource('maps', 'basemap', join(home, 'maps'))
  await gateway.admin.scanSource('vectors', 'vector', join(home, 'vectors'))
  ;({ token } = await gateway.issueToken({ basemap_codes: ['*'], vector_codes: ['*'], scopes: ['read', 'slice'] }))
  prometheus = await startPrometheus()
})
afterAll(async () => {
  await prometheus?.stop(10_000)
  await gateway?.stop()
  receiver.closeAllConnections()
  receiver.close()
  await rm(home, { recursive: true, force: true })
})

async function startPrometheus(): Promise<ServiceProcess> {
  const port = await freePort()
  prometheusUrl = `http://127.0.0.1:${port}`
  const targets = [gateway.controlPlane, ...gateway.edges].map(({ url }) => new URL(url).host)
  await writeFile(join(home, 'alerts.yaml'), faster(readFileSync(join(MONITORING, 'alerts.yaml'), 'utf8')))
  const config = {
    // A control plane waits for its store for up to 1.5 s.
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: ['alerts.yaml'],
    scrape_configs: [{ job_name: 'gateway', static_configs: [{ targets }] }],
  }
  await writeFile(join(home, 'prometheus.yml'), JSON.stringify(config))
  const args = [
    `--config.file=${join(home, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(home, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const started = new ServiceProcess('prometheus', ['prometheus', ...args], process.env)
  await started.line(({ raw }) => raw.includes('Server is ready to receive web requests'))
  return started
}

/** Returns the rules with every duration, and every threshold that is a duration, divided by FASTER. */
function faster(rules: string): string {
  const seconds = (n: string, unit: string) => (Number(n) * { s: 1, m: 60, h: 3600 }[unit as 's']) / FASTER
  return rules
    .replaceAll(/\[(\d+)([smh])\]/g, (_, n, unit) => `[${Math.max(5, seconds(n, unit))}s]`)
    .replaceAll(/offset (\d+)([smh])/g, (_, n, unit) => `offset ${seconds(n, unit)}s`)
    .replaceAll(/for: (\d+)([smh])/g, (_, n, unit) => `for: ${seconds(n, unit)}s`)
    .replaceAll(/(_seconds\)? > )(\d+)/g, (_, before, n) => `${before}${Number(n) / FASTER}`)
}

interface Answered {
  readonly data: { readonly result: { metric: Record<string, string>; value: [number, string] }[] }
}

async function query(expression: string): Promise<Answered['data']['result']> {
  const answer = await fetch(`${prometheusUrl}/api/v1/query?${new URLSearchParams({ query: expression })}`)
  expect(answer.status, expression).toBe(200)
  return ((await answer.json()) as Answered).data.result
}

async function firing(): Promise<string[]> {
  const alerts = await query('count by (alertname) (ALERTS{alertstate="firing"})')
  return alerts.map(({ metric }) => metric.alertname ?? '').sort()
}

/** Waits until an alert fires, or has stopped firing. */
async function until(name: string, state: 'fires' | 'is over'): Promise<void> {
  const deadline = Date.now() + ENDED_WITHIN_MS
  while ((await firing()).includes(name) !== (state === 'fires')) {
    if (Date.now() > deadline) throw new Error(`${name} never ${state}; firing: ${await firing()}\n${gateway.logs()}`)
    await sleep(500)
  }
  say(`monitoring: ${name} ${state}`)
}

async function ask(edge: { url: string }, path: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(edge.url + path, { headers: { 'x-access-token': token, ...headers } }).catch(() => null)
  await answer?.arrayBuffer().catch(() => {})
  return answer?.status ?? 0
}

/** Sends some requests of each kind until stopped. */
function load(): () => Promise<void> {
  let going = true
  const run = (async () => {
    for (let i = 0; going; i++) {
      for (const edge of gateway.edges) {
        const tile = `/tiles/world/v1/3/${i % 8}/${(i >> 3) % 8}.png`
        await Promise.all([
          ...Array.from({ length: 10 }, () => ask(edge, tile)),
          ask(edge, '/tiles/world/v1/9/0/0.png'),
          ask(edge, '/vectors/small/download'),
          ask(edge, '/api/v1/system'),
          ask(edge, tile, { 'x-access-token': '' }),
        ])
      }
      await sleep(50)
    }
  })()
  return () => {
    going = false
    return run
  }
}

const REDIS_AND_POSTGRES = ['redisProxy', 'postgresProxy'] as const

async function push(target: string): Promise<void> {
  await gateway.admin.expect('/vector-pushes', { body: { target_code: target, vector_code: 'small' } })
}

test('a real Prometheus finds data for every panel, and each alert fires on its fault and stops afterwards', {
  timeout: (options.minutes + 20) * 60_000,
}, async () => {
  const { admin, edges, controlPlane } = gateway
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  for (const code of ['good', 'silent'])
    await admin.expect('/targets', { body: { code, kind: 'http', mode: 'notify', url: `${address}/${code}` } })
  await push('good')
  await fetch(`${gateway.url}/api/v1/slice/jobs`, {
    method: 'POST',
    headers: { 'x-access-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ target_code: 'none', source_path: join(home, 'missing.tif') }),
  })
  const { id } = await gateway.issueToken()
  await admin.expect(`/tokens/${id}/disable`, { method: 'POST' })

  const stop = load()
  const endAt = Date.now() + options.minutes * 60_000
  await sleep(Math.min(60_000, options.minutes * 30_000))
  // Metrics of events need an event while Prometheus scrapes.
  await push('good')
  await admin.rescan('maps')
  await sleep(Math.max(15_000, endAt - Date.now()))
  const { panels } = JSON.parse(readFileSync(join(MONITORING, 'dashboard.json'), 'utf8'))
  const expressions: string[] = panels.flatMap((panel: { targets?: { expr: string }[] }) =>
    (panel.targets ?? []).map(({ expr }) => expr.replaceAll('$__rate_interval', '15s')),
  )
  const empty: string[] = []
  for (const expression of expressions) if ((await query(expression)).length === 0) empty.push(expression)
  expect(empty).toEqual([])
  say(`monitoring: ${expressions.length} queries of ${panels.length} panels have data`)
  for (const { url } of [controlPlane, ...edges]) {
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })).toBe('')
  }
  expect(await firing()).toEqual([])

  // Only one edge loses the bus and then the store, while the other applies a change.
  const [one, other] = edges as [(typeof edges)[0], (typeof edges)[0]]
  await other.redisProxy?.cut()
  await until('GatewayEdgeBusDown', 'fires')
  await other.postgresProxy?.cut()
  const { id: another } = await gateway.issueToken()
  await admin.expect(`/tokens/${another}/disable`, { method: 'POST' })
  await until('GatewayEdgeBehind', 'fires')
  await until('GatewayEdgeNotSynced', 'fires')
  await until('GatewayServerErrors', 'fires')
  for (const link of REDIS_AND_POSTGRES) await other[link]?.restore()
  for (const name of ['GatewayEdgeBusDown', 'GatewayEdgeBehind', 'GatewayEdgeNotSynced', 'GatewayServerErrors'])
    await until(name, 'is over')

  await controlPlane.redisProxy?.cut()
  await until('GatewayBusDown', 'fires')
  await controlPlane.redisProxy?.restore()
  await controlPlane.postgresProxy?.cut()
  await until('GatewayStoreDown', 'fires')
  await controlPlane.postgresProxy?.restore()
  await until('GatewayBusDown', 'is over')
  await until('GatewayStoreDown', 'is over')

  for (let i = 0; i < 5; i++) {
    const [worker] = one.process.workers()
    if (worker !== undefined) process.kill(worker, 'SIGKILL')
    while (one.process.workers().includes(worker ?? -1)) await sleep(50)
    await sleep(1_000)
  }
  await until('GatewayWorkersRestart', 'fires')

  renameSync(join(home, 'maps'), join(home, 'away'))
  await admin.call('/scan-sources/maps/run', { method: 'POST' })
  await until('GatewayScansFail', 'fires')
  renameSync(join(home, 'away'), join(home, 'maps'))

  // Four of them run at a time, for ten seconds each.
  for (let i = 0; i < 30; i++) await push('silent')
  await until('GatewayDeliveriesOverdue', 'fires')

  let guessing = true
  const guesses = (async () => {
    while (guessing) {
      const authorization = `Bearer ${randomUUID()}`
      await ask(one, '/api/v1/admin/tokens', { authorization, 'x-access-token': '' })
      await sleep(250)
    }
  })()
  await until('GatewayWrongCredentials', 'fires')
  guessing = false
  await guesses

  await withConnection(gateway.database.url, async (sql) => {
    const held = sql.begin(async (tx) => {
      // Until then the connection is silent.
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`
      await tx`LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE`
      let waiting = true
      const asking = Array.from({ length: 30 }, async () => {
        while (waiting) await admin.call('/tokens').catch(() => {})
      })
      await until('GatewayPoolExhausted', 'fires')
      waiting = false
      await tx`SELECT 1`
      return asking
    })
    await Promise.all(await held)
  })
  await until('GatewayPoolExhausted', 'is over')
  await stop()
})
