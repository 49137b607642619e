/**
 * The cost of idle edges: memory and processor time of each process, connections to Postgres and their queries.
 *
 *     node bench/micro/sizing.mjs [--edges 10] [--workers 10] [--redis redis://127.0.0.1:6379] [--connections 200] [--within 600] [--seconds 20]
 *                                 [--tokens 200000] [--versions 15000]
 *
 * Starts a Postgres, a control plane and the edges, one after the other, with an empty catalog or rows made by SQL, and ends them: as many edges as get ready within so
 * many seconds. A hundred processes want 10 GB; all at once, on two cores, they are too slow for their own heartbeats.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { freePort, isReady } from '@gateway/core/processes/readiness.js'
import { openStore } from '@gateway/store/connect.js'
import { startEmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'
import { makeTokens, makeVersions } from '../dist/scale/stand.js'

const { values } = parseArgs({
  options: {
    edges: { type: 'string', default: '10' },
    workers: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    redis: { type: 'string' },
    tokens: { type: 'string', default: '0' },
    versions: { type: 'string', default: '0' },
    connections: { type: 'string', default: '200' },
    within: { type: 'string', default: '600' },
  },
})
const home = mkdtempSync(join(tmpdir(), 'gateway-sizing-'))
const postgres = await startEmbeddedPostgres({
  dir: join(home, 'postgres'),
  log: () => {},
  onLost: console.error,
  maxConnections: Number(values.connections),
})
const controlPort = await freePort()
const common = {
  ...process.env,
  CONFIG_FILE: join(home, 'service.env'),
  DATABASE_URL: postgres.url,
  ...(values.redis && { REDIS_URL: values.redis }),
  CONTROL_PORT: String(controlPort),
  EDGE_WORKERS: values.workers,
  DEMO: 'false',
  LOG_LEVEL: 'error',
  DRAIN_NOTICE_SECONDS: '0',
}
const children = []

async function start(service, port, settings) {
  const main = fileURLToPath(new URL(`../../services/${service}/dist/main.js`, import.meta.url))
  const child = spawn(process.execPath, [main], {
    env: { ...common, ...settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  children.push(child)
  while (!(await isReady(`http://127.0.0.1:${port}/ready`))) await sleep(100)
  return child.pid
}

/** Returns the processes below these, in the order of their start. */
function below(pids) {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
  const rows = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  return rows.filter(([, parent]) => pids.includes(parent)).map(([pid]) => pid)
}

const stat = (pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
/** Returns the processor time in ms. Linux always reports 100 ticks per second. */
const cpuMs = (pid) => (Number(stat(pid)[11]) + Number(stat(pid)[12])) * 10
const megabytes = (pid, what) => {
  const line = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`${what}:`))
  return Number.parseInt(line?.slice(what.length + 1) ?? '0', 10) / 1024
}
const mean = (numbers) => numbers.reduce((sum, n) => sum + n, 0) / Math.max(1, numbers.length)

try {
  const control = await start('control-plane', controlPort, { DATA_DIR: join(home, 'control') })
  const sql = openStore(postgres.url, { applicationName: 'sizing', maxConnections: 1, statementTimeoutMs: 600_000 })
  await makeTokens(sql, Number(values.tokens))
  await makeVersions(sql, Number(values.versions))
  const startEdge = async (i) => {
    const port = await freePort()
    return start('edge', port, { DATA_DIR: join(home, `edge-${i}`), API_PORT: String(port) })
  }
  const supervisors = []
  const startingSince = performance.now()
  while (supervisors.length < Number(values.edges) && performance.now() - startingSince < Number(values.within) * 1000)
    supervisors.push(await startEdge(supervisors.length))
  console.log(`started in ${((performance.now() - startingSince) / 1000).toFixed(0)} s`)
  const workers = below(supervisors)
  const server = [postgres.pid()]
  await sleep(5_000)
  const commits = async () => Number((await sql`SELECT sum(xact_commit) AS n FROM pg_stat_database`)[0].n)
  /** Returns commands and messages that Redis has handled, its own processor time in ms, and connections to it. */
  const busFigures = () => {
    const info = values.redis ? execFileSync('redis-cli', ['-u', values.redis, 'info'], { encoding: 'utf8' }) : ''
    const figures = Object.fromEntries(info.split('\r\n').map((line) => line.split(':')))
    const figure = (name) => Number(figures[name] ?? 0)
    return {
      commands: figure('total_commands_processed'),
      cpu: (figure('used_cpu_sys') + figure('used_cpu_user')) * 1000,
      connections: figure('connected_clients') - 1,
    }
  }
  const cpuOf = (pids) => pids.reduce((sum, pid) => sum + cpuMs(pid), 0)
  const backends = below(server)
  const before = {
    commits: await commits(),
    workers: cpuOf(workers),
    supervisors: cpuOf(supervisors),
    server: cpuOf(backends),
    bus: busFigures(),
  }
  await sleep(Number(values.seconds) * 1000)
  const still = below(server).filter((pid) => backends.includes(pid))
  const per = (now, then) => (now - then) / Number(values.seconds)
  const rows = await sql`
    SELECT application_name AS name, count(*)::int AS n FROM pg_stat_activity WHERE backend_type = 'client backend' GROUP BY 1 ORDER BY 1`
  const percent = (ms) => `${(ms / 10).toFixed(2)} %`
  console.log(
    `${workers.length} edge processes in ${supervisors.length} edges, bus ${values.redis ? 'Redis' : 'Postgres'}`,
  )
  for (const [name, pids] of Object.entries({ worker: workers, supervisor: supervisors, 'control plane': [control] }))
    console.log(
      `${name}: ${mean(pids.map((pid) => megabytes(pid, 'Rss'))).toFixed(0)} MB resident, ${mean(pids.map((pid) => megabytes(pid, 'Pss'))).toFixed(0)} MB as a share`,
    )
  console.log(
    `processor: worker ${percent(per(cpuOf(workers), before.workers) / workers.length)}, supervisor ${percent(per(cpuOf(supervisors), before.supervisors) / supervisors.length)}, Postgres ${percent(per(cpuOf(still), before.server))} of a core`,
  )
  console.log(`transactions: ${per(await commits(), before.commits).toFixed(1)} a second`)
  const bus = busFigures()
  if (values.redis)
    console.log(
      `Redis: ${per(bus.commands, before.bus.commands).toFixed(1)} commands a second, ${percent(per(bus.cpu, before.bus.cpu))} of a core, ${bus.connections} connections`,
    )
  console.log(`connections: ${rows.map(({ name, n }) => `${name} ${n}`).join(', ')}`)
  await sql.end()
} finally {
  for (const child of children.reverse()) child.kill('SIGTERM')
  await Promise.all(children.map((child) => child.exitCode === null && once(child, 'exit')))
  await postgres.stop()
  rmSync(home, { recursive: true })
}
