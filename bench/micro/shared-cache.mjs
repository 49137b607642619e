/**
 * nginx as a shared cache in front of one edge, as in deploy/nginx-cache: the realistic mix with tokens in turn, from an empty cache on. Prints
 * the part of the requests that the cache has answered, of all so far, the first ones included.
 *
 *   node bench/micro/shared-cache.mjs [--requests 100000] [--tokens 50]
 *
 * Needs `npx tsc -b`, the addon and nginx.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { dieWithParent } from '@gateway/processes/die-with-parent.js'
import { freePort } from '@gateway/processes/free-port.js'
import { dataSet } from '../dist/data/data-set.js'
import { seededRandom } from '../dist/data/random.js'
import { sampleTraffic } from '../dist/data/traffic.js'
import { startGateway } from '../dist/gateway/gateway.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: { requests: { type: 'string', default: '100000' }, tokens: { type: 'string', default: '50' } },
})
const AT_ONCE = 32
const MARKS = [1_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000]
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
     access_log off; ${folders.join(' ')}
     proxy_cache_path ${home}/cache keys_zone=tiles:16m max_size=1g use_temp_path=off;
     upstream gateway { server 127.0.0.1:${gateway.port}; keepalive 32; }
     server { listen 127.0.0.1:${port}; keepalive_requests 1000000; add_header X-Cache $upstream_cache_status; include ${LOCATIONS}; }
   }`,
)
const [command = '', ...args] = [...dieWithParent('KILL'), 'nginx', '-e', 'stderr', '-p', home, '-c', `${home}/conf`]
const nginx = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
const origin = `http://127.0.0.1:${port}`
while (!(await fetch(origin).catch(() => null))) await sleep(20)

const tokens = []
for (let i = 0; i < Number(options.tokens); i++) tokens.push((await gateway.admin.issueToken()).token)
const mix = sampleTraffic(seededRandom(7), data.tiles, Number(options.requests))
const seen = { HIT: 0, MISS: 0 }
const rows = []
let next = 0
async function ask() {
  for (let i = next++; i < mix.length; i = next++) {
    const { z, x, y } = mix[i]
    const query = `v=1&token=${tokens[i % tokens.length]}`
    const answer = await fetch(`${origin}/tiles/mix/v1/${z}/${x}/${y}.png?${query}`)
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`${z}/${x}/${y} is answered ${answer.status}`)
    const cache = answer.headers.get('x-cache')
    seen[cache] = (seen[cache] ?? 0) + 1
    const total = Object.values(seen).reduce((sum, count) => sum + count, 0)
    if (MARKS.includes(total) || total === mix.length) rows.push([String(total), (seen.HIT / total).toFixed(3)])
  }
}
const begun = performance.now()
await Promise.all(Array.from({ length: AT_ONCE }, ask))
const seconds = (performance.now() - begun) / 1000
console.info(
  `${data.tiles.length} tiles, ${tokens.length} tokens, ${Math.round(mix.length / seconds)} requests a second, ${JSON.stringify(seen)}`,
)
console.info(textTable(['requests', 'answered by the cache'], rows))
nginx.kill('SIGKILL')
await once(nginx, 'exit')
await gateway.stop()
fs.rmSync(home, { recursive: true })
