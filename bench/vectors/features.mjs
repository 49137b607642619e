// Measures the speed of features (boxes, filters, whole pages), and how far concurrent queries slow down tiles.
//   node bench/vectors/features.mjs [--features 1000000] [--seconds 5] [--rounds 3]
// Needs GDAL, wrk (apt-get install wrk) and `npx tsc -b`. One edge process; the worst of the rounds is printed.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { startGateway } from '../dist/gateway/gateway.js'
import { textTable } from '../dist/report/text-table.js'
import { vectorFile } from './data.mjs'

const { values } = parseArgs({
  options: {
    features: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
})
const rounds = Number(values.rounds)
const home = mkdtempSync(join(tmpdir(), 'features-bench-'))
const gateway = await startGateway({
  workers: 1,
  cores: null,
  vectors: dirname(vectorFile('points', Number(values.features))),
})
const { token } = await gateway.admin.issueToken()
const headers = { 'X-Access-Token': token }
const items = '/ogc/collections/points/items'

const execute = promisify(execFile)

/** Requests of a script, for wrk: latencies in milliseconds, and how many were answered in a second. */
async function load(name, connections, lua, seconds = Number(values.seconds)) {
  const script = join(home, `${name}.lua`)
  const done = `
function done(summary, latency)
  local errors = summary.errors.status + summary.errors.timeout + summary.errors.read + summary.errors.connect
  io.write(string.format('RESULT %f %f %f %d\\n', summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, errors))
end`
  writeFileSync(script, `${lua}\n${done}`)
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, '-H', `X-Access-Token: ${token}`]
  const { stdout } = await execute('wrk', [...args, gateway.url])
  const [, rate, p50, p99, errors] = /RESULT (\S+) (\S+) (\S+) (\d+)/.exec(stdout)?.map(Number) ?? []
  return { rate, p50, p99, errors }
}

const random = (body) => `math.randomseed(7)\nfunction request()\n${body}\nend`
/** Boxes of some 100 features, by the density of the data. */
const side = Math.sqrt((100 / Number(values.features)) * 300)
const BOXES = random(
  `local x = 100 + math.random() * 19.8; local y = 25 + math.random() * 14.8
  return wrk.format('GET', string.format('${items}?limit=100&bbox=%.5f,%.5f,%.5f,%.5f', x, y, x + ${side}, y + ${side}))`,
)
const PAGES = random(`return wrk.format('GET', '${items}?limit=10000&offset=' .. math.random(900) * 100)`)
const TILES = random(`local x = 100 + math.random() * 20; local y = 25 + math.random() * 15
  local n = 2 ^ 7; local lat = math.rad(y)
  local row = math.floor((1 - math.log(math.tan(lat) + 1 / math.cos(lat)) / math.pi) / 2 * n)
  return wrk.format('GET', string.format('/vectors/points/tiles/7/%d/%d.mvt', math.floor((x + 180) / 360 * n), row))`)

async function timed(path) {
  const startedAt = performance.now()
  const answer = await fetch(gateway.url + path, { headers })
  const body = await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${Buffer.from(body).toString().slice(0, 200)}`)
  return { ms: performance.now() - startedAt, bytes: body.byteLength }
}

const worst = async (measure, better) => {
  let found = null
  for (let i = 0; i < rounds; i++) {
    const one = await measure()
    if (found === null || better(found, one)) found = one
  }
  return found
}

const rows = []
const row = (...cells) => {
  rows.push(cells.map(String))
  console.error(cells.join(' | '))
}
try {
  for (;;) {
    const { tiles } = await gateway.admin.call('/vectors/points')
    if (tiles.status === 'ready') break
    if (tiles.status === 'failed') throw new Error(tiles.message)
    await sleep(500)
  }
  await sleep(3_000)
  await timed(`${items}?limit=1`)
  await load('warm', 8, BOXES)
  const one = await worst(
    () => load('box', 1, BOXES),
    (a, b) => b.p50 > a.p50,
  )
  row('100 of a box, one at a time: p50 ms', one.p50.toFixed(2), '5')
  const many = await worst(
    () => load('boxes', 16, BOXES),
    (a, b) => b.rate < a.rate,
  )
  row('100 of a box, 16 at a time: requests/s', many.rate.toFixed(0), '1500')
  row('  p50 ms, refused', `${many.p50.toFixed(2)}, ${many.errors}`, '')
  const filters = [
    "name = 'place 777777'",
    "name LIKE 'place 77777%'",
    'population > 999000',
    "CASEI(name) = CASEI('PLACE 999999')",
    'kind = 36 AND height > 2990',
  ]
  for (const filter of filters) {
    const found = await worst(
      () => timed(`${items}?${new URLSearchParams({ filter })}`),
      (a, b) => b.ms > a.ms,
    )
    row(`first page of ${filter}: ms`, found.ms.toFixed(0), '300')
  }
  for (const format of ['geojson', 'csv', 'fgb']) {
    const found = await worst(
      () => timed(`${items}?limit=10000&f=${format}`),
      (a, b) => b.ms > a.ms,
    )
    row(`10,000 as ${format}: MB/s`, (found.bytes / 1000 / found.ms).toFixed(0), format === 'geojson' ? '100' : '')
  }
  const quiet = await worst(
    () => load('tiles', 16, TILES),
    (a, b) => b.p99 > a.p99,
  )
  row('tiles: p99 ms, requests/s', `${quiet.p99.toFixed(2)}, ${quiet.rate.toFixed(0)}`, '')
  for (const [name, script] of [
    ['boxes', BOXES],
    ['pages of 10,000', PAGES],
  ]) {
    const other = load('others', 100, script, rounds * (Number(values.seconds) + 1))
    const beside = await worst(
      () => load('tiles', 16, TILES),
      (a, b) => b.p99 > a.p99,
    )
    const { rate, errors } = await other
    row(
      `tiles next to 100 queries of ${name}: p99 ms, requests/s`,
      `${beside.p99.toFixed(2)}, ${beside.rate.toFixed(0)}`,
      (quiet.p99 + 5).toFixed(2),
    )
    row('  their requests/s, refused', `${rate.toFixed(0)}, ${errors}`, '')
  }
} finally {
  await gateway.stop()
  rmSync(home, { recursive: true, force: true })
}
console.log(textTable(['measure', 'found', 'goal'], rows))
