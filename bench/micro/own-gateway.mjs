import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, isReady } from '@gateway/core/processes/readiness.js'
import { startEmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'

// A gateway in single processes, for the measurements of the automation: a Postgres, and the services that `start` starts.

export const home = mkdtempSync(join(tmpdir(), 'gateway-automation-'))
const postgres = await startEmbeddedPostgres({ dir: join(home, 'postgres'), log: () => {}, onLost: console.error })
export const controlPort = await freePort()
const ADMIN_TOKEN = 'bench-admin-token-bench'
const control = `http://127.0.0.1:${controlPort}`
const children = []
// Also after an error or a signal.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

/** Starts a service, and resolves when it is ready. Returns its process. */
export async function start(service, port, settings) {
  const main = fileURLToPath(new URL(`../../services/${service}/dist/main.js`, import.meta.url))
  const env = {
    ...process.env,
    CONFIG_FILE: join(home, 'service.env'),
    DATABASE_URL: postgres.url,
    CONTROL_PORT: String(controlPort),
    DATA_DIR: join(home, 'data'),
    EDGE_WORKERS: '1',
    DEMO: 'false',
    LOG_LEVEL: 'error',
    // Its builds go on for minutes behind the first scan.
    VECTOR_TILES: 'false',
    DRAIN_NOTICE_SECONDS: '0',
    ADMIN_TOKEN,
    ...settings,
  }
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  children.push(child)
  while (!(await isReady(`http://127.0.0.1:${port}/ready`))) await sleep(100)
  return child
}

/** Seconds of processor time of processes, and of those that they have started and seen end. */
export function processorSeconds(of = children) {
  const tree = new Map()
  for (const line of execFileSync('ps', ['-eo', 'pid=,ppid=']).toString().trim().split('\n')) {
    const [pid, parent] = line.trim().split(/\s+/).map(Number)
    tree.set(parent, [...(tree.get(parent) ?? []), pid])
  }
  const all = (pid) => [pid, ...(tree.get(pid) ?? []).flatMap(all)]
  let ticks = 0
  for (const pid of of.flatMap(({ pid }) => all(pid))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ')
      ticks += [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0)
    } catch {} // it has ended
  }
  return ticks / 100
}

export async function admin(method, path, body) {
  const answer = await fetch(`${control}/api/v1/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Ends the services and the Postgres, and removes the folder. */
export async function end() {
  for (const child of children.reverse()) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  await postgres.stop()
  rmSync(home, { recursive: true, force: true })
}
