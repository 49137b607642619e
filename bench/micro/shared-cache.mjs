/**
 * nginx as a shared cache in front of one edge, as in deploy/nginx-cache: the realistic mix with alternating tokens, from an empty cache. Prints
 * the share of all requests so far that the cache served, including the first ones. Ends `--seconds` after the start.
 *
 *   node bench/micro/shared-cache.mjs [--seconds 20] [--tokens 50]
 *
 * Needs `npx tsc -b`, the addon, nginx and cc.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { dieWithParent } from '@gateway/core/processes/die-with-parent.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { dataSet } from '../dist/data/data-set.js'
import { seededRandom } from '../dist/data/random.js'
import { sampleTraffic } from '../dist/data/traffic.js'
import { startGateway } from '../dist/gateway/gateway.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '20' }, tokens: { type: 'string', default: '50' } },
})
const CONNECTIONS = 32
/** Number of requests: more than fit into the time, since the generator would otherwise start again. */
const MIX_REQUESTS = 1_000_000
const MARKS = [1_000, 5_000, 10_000, 20_000, 50_000, 80_000, 100_000, 200_000, 500_000, 1_000_000]
const LOCATIONS = fileURLToPath(new URL('../../deploy/nginx-cache/locations.conf', import.meta.url))

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'shared-cache-'))
const data = await dataSet()
const gateway = await startGateway({ workers: 1, cores: null, basemaps: [data.basemaps] })
const port = await freePort()
const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${home}/t;`)
fs.writeFileSync(
  path.join(home, 'conf'),
  `daemon off; master_process off; pid ${home}/pid; error_log stderr crit; events {}
   http {
     log_format cache '$status $upstream_cache_status'; access_log ${home}/log cache buffer=64k flush=1s; ${folders.join(' ')}
     proxy_cache_path ${home}/cache keys_zone=tiles:16m max_size=1g use_temp_path=off;
     upstream gateway { server 127.0.0.1:${gateway.port}; keepalive 32; }
     server { listen 127.0.0.1:${port}; keepalive_requests 1000000; include ${LOCATIONS}; }
   }`,
)
const [command = '', ...args] = [...dieWithParent('KILL'), 'nginx', '-e', 'stderr', '-p', home, '-c', `${home}/conf`]
const nginx = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
const origin = `http://127.0.0.1:${port}`
while (!(await fetch(origin).catch(() => null))) await sleep(20)

const tokens = []
for (let i = 0; i < Number(options.tokens); i++) tokens.push((await gateway.admin.issueToken()).token)
const mix = sampleTraffic(seededRandom(7), data.tiles, MIX_REQUESTS)
const requests = mix.map(({ z, x, y }, i) => {
  const query = `v=1&token=${tokens[i % tokens.length]}`
  return { path: `/tiles/mix/v1/${z}/${x}/${y}.png?${query}`, headers: [] }
})
const file = writeRequests(path.join(home, 'requests'), requests)
const result = await loadGenerator()({
  port,
  connections: CONNECTIONS,
  seconds: Number(options.seconds),
  requests: file,
  core: undefined,
})
if (result.failures > 0 || Object.keys(result.statuses).join() !== '200') throw new Error(JSON.stringify(result))
const exited = once(nginx, 'exit')
nginx.kill('SIGQUIT') // flushes its log
await exited
const seen = {}
const rows = []
const lines = fs.readFileSync(path.join(home, 'log'), 'utf8').split('\n')
const answers = lines.map((line) => line.split(' ')).filter(([status]) => status === '200')
for (const [i, [, cache]] of answers.entries()) {
  seen[cache] = (seen[cache] ?? 0) + 1
  if (MARKS.includes(i + 1) || i + 1 === answers.length) rows.push([String(i + 1), (seen.HIT / (i + 1)).toFixed(3)])
}
console.info(`load average ${os.loadavg()[0].toFixed(1)}`)
console.info(
  `${data.tiles.length} tiles, ${tokens.length} tokens, ${Math.round(result.requests / result.seconds)} requests a second, ${JSON.stringify(seen)}`,
)
console.info(textTable(['requests', 'answered by the cache'], rows))
await gateway.stop()
fs.rmSync(home, { recursive: true })
