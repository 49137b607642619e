/**
 * Tables of PostGIS behind the gateway, next to pgbench with the same statements and as many connections. See bench/README.md.
 *
 *   node bench/micro/postgis.mjs [tiles kept items downloads slow] [--rounds 3] [--seconds 4] [--features 1000000]
 *
 * Needs `npx tsc -b`, the addon, cc, GDAL, and `apt-get install postgresql-15-postgis-3`. The database has one processor; the edge and the load,
 * or pgbench, have the other.
 */
import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startPostgis } from '@gateway/vectors/postgis/testing/server.js'
import { median } from '../dist/compare/summary.js'
import { shuffled } from '../dist/data/random.js'
import { startGateway } from '../dist/gateway/gateway.js'
import { loadGenerator, writeRequests } from '../dist/load/load.js'
import { bindSelf, chooseCores, loadAverage, memory } from '../dist/machine.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    features: { type: 'string', default: '1000000' },
  },
})
const PARTS = ['tiles', 'kept', 'items', 'downloads', 'slow']
const parts = positionals.length === 0 ? PARTS : positionals
const [rounds, seconds, features] = [Number(options.rounds), Number(options.seconds), Number(options.features)]
/** Connections of the gateway to the database, and of pgbench. */
const POOL = 4
const PGBENCH = '/usr/lib/postgresql/15/bin/pgbench'

const cores = chooseCores()
const home = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'bench-postgis-'))
// The database begins on its processor.
bindSelf(cores?.server)
const database = await startPostgis()
bindSelf(cores?.load)
const ending = [() => database.stop(), () => fs.rmSync(home, { recursive: true, force: true })]
const rows = []
const row = (...cells) => {
  rows.push(cells.map(String))
  console.error(cells.join(' | '))
}
const run = loadGenerator()

/** Points in a box of 20 x 15 degrees, lines of about 10 points, and a table whose queries take 2 s. */
for (const one of ["ALTER SYSTEM SET log_statement = 'none'", 'SELECT pg_reload_conf()'])
  await database.owner.unsafe(one)
await database.owner.unsafe(`
  CREATE TABLE points AS SELECT n AS id, 'place ' || n AS name, (n::bigint * 7919) % 100000 AS population, ((n * 31) % 1000) / 10.0::float8 AS height,
    ST_SetSRID(ST_MakePoint(100 + ((n * 48271::bigint) % 2147483647) / 2147483647.0 * 20, 25 + ((n * 69621::bigint) % 2147483647) / 2147483647.0 * 15), 4326)::geometry(Point, 4326) AS geom
    FROM generate_series(1, ${features}) n;
  ALTER TABLE points ADD PRIMARY KEY (id); CREATE INDEX ON points USING gist (geom);
  CREATE TABLE slow_base (id int PRIMARY KEY, geom geometry(Point, 4326)); INSERT INTO slow_base VALUES (1, ST_SetSRID(ST_MakePoint(110, 30), 4326));
  CREATE VIEW slow AS SELECT id, geom, (SELECT 1 FROM pg_sleep(2)) AS waited FROM slow_base;
  GRANT SELECT ON points, slow TO reader`)
await database.owner.unsafe('VACUUM ANALYZE points')

const vectors = path.join(home, 'vectors')
fs.mkdirSync(vectors)
if (parts.includes('kept'))
  execFileSync('ogr2ogr', [
    path.join(vectors, 'file.fgb'),
    `PG:host=127.0.0.1 port=${database.port} user=owner dbname=test`,
    '-sql',
    'SELECT * FROM points',
  ])

async function startEdge(settings = {}) {
  const others = cores === null ? null : { server: cores.load, load: cores.load }
  const gateway = await startGateway({
    workers: 1,
    cores: others,
    vectors,
    settings: { RENDERING: 'false', VECTOR_TILES: 'true', ...settings },
  })
  ending.unshift(() => gateway.stop())
  const url = database.readerUrl.replace('reader@', 'reader:secret@')
  await gateway.admin.scanSource({ code: 'db', kind: 'postgis', url, options: { ttl_seconds: 3600, pool: POOL } })
  const tokens = await gateway.admin.issueTokens(POOL)
  return {
    gateway,
    port: gateway.port,
    headers: (i) => [`Authorization: Bearer ${tokens[i % POOL].token}`],
    pids: gateway.edgePids,
  }
}

let files = 0
/** Tokens take turns, since none of them gets all connections to a database. */
const requestsOf = (edge, paths) =>
  writeRequests(
    path.join(home, `${++files}`),
    paths.map((one, i) => ({ path: one, headers: edge.headers(i) })),
  )

async function load(edge, requests, more = {}) {
  const result = await run({ port: edge.port, core: cores?.load, seconds, connections: POOL, requests, ...more })
  if (result.failures > 0 || Object.keys(result.statuses).some((status) => !['200', '204', '404'].includes(status)))
    throw new Error(`${JSON.stringify(result.statuses)}, ${result.failures} broke`)
  return { rate: result.requests / result.seconds, ...result }
}

/** Returns the statements per second of pgbench, whose script chooses values at random as the load does. */
async function pgbench(script) {
  const file = path.join(home, 'script.sql')
  fs.writeFileSync(file, script)
  const args = [
    '-n',
    '-M',
    'prepared',
    '-c',
    POOL,
    '-j',
    POOL,
    '-T',
    seconds,
    '-f',
    file,
    `postgres://reader:secret@127.0.0.1:${database.port}/test`,
  ].map(String)
  const { stdout } = await promisify(execFile)('taskset', ['-c', String(cores?.load ?? 0), PGBENCH, ...args])
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
}

async function compare(name, goal, own, other) {
  const ratios = []
  const [found, others] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const pair = [async () => found.push(await own(round)), async () => others.push(await other(round))]
    for (const one of round % 2 === 0 ? pair : pair.reverse()) await one()
    ratios.push(found[round] / others[round])
  }
  row(
    name,
    median(found).toFixed(0),
    median(others).toFixed(0),
    `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)})`,
    goal,
  )
}

const ZOOM = 10
/** Column and row of the tiles of the box at a zoom. */
const span = (zoom) => {
  const n = 2 ** zoom
  const row = (lat) =>
    Math.floor(
      ((1 - Math.log(Math.tan((lat * Math.PI) / 180) + 1 / Math.cos((lat * Math.PI) / 180)) / Math.PI) / 2) * n,
    )
  return { x0: Math.floor((280 / 360) * n), x1: Math.floor((300 / 360) * n), y0: row(40), y1: row(25) }
}
/** @returns {[column: number, row: number][]} */
const placesOf = (zoom) => {
  const { x0, x1, y0, y1 } = span(zoom)
  return shuffled(
    Math.random,
    Array.from({ length: (x1 - x0) * (y1 - y0) }, (_, i) => [x0 + (i % (x1 - x0)), y0 + Math.floor(i / (x1 - x0))]),
  )
}

/** Returns the last statement that begins with a text, behind the name of its table, and its parameters, from the log of a request. */
async function statementOf(edge, path, begin) {
  await database.owner.unsafe("ALTER SYSTEM SET log_statement = 'all'")
  await database.owner.unsafe('SELECT pg_reload_conf()')
  await new Promise((resolve) => setTimeout(resolve, 500))
  await get(edge, path)
  await new Promise((resolve) => setTimeout(resolve, 200))
  await database.owner.unsafe("ALTER SYSTEM SET log_statement = 'none'")
  await database.owner.unsafe('SELECT pg_reload_conf()')
  const lines = database.log().split('\n')
  const at = lines.findLastIndex((line) => line.includes('execute ') && line.includes(` */ ${begin}`))
  if (at < 0) throw new Error(`no statement in the log: ${database.log().slice(-3000)}`)
  const line = lines[at]
  return [line.slice(line.indexOf(begin)), (lines[at + 1] ?? '').split('parameters: ')[1] ?? '']
}

/** Reads an answer to its end, and returns its status and the number of its bytes. */
function get(edge, path, onPart = () => {}) {
  const headers = Object.fromEntries(edge.headers(0).map((line) => line.split(': ')))
  return new Promise((resolve, reject) => {
    const request = http.get(`http://127.0.0.1:${edge.port}${path}`, { headers, agent: false }, (answer) => {
      let bytes = 0
      answer.on('data', (part) => {
        onPart()
        bytes += part.length
      })
      answer.once('end', () => resolve({ status: answer.statusCode, bytes }))
      answer.once('error', reject)
    })
    request.once('error', reject)
  })
}

/** Numbers and latitudes of a tile, as the gateway computes them. pgbench has no arc tangent, which the statement then has. */
const TILE = `\\set z ${ZOOM}
\\set x random(X0, X1)
\\set y random(Y0, Y1)
\\set w (:x - 0.015625) / 1024.0 * 360 - 180
\\set e (:x + 1.015625) / 1024.0 * 360 - 180
\\set ey exp(pi() * (1 - 2 * (:y + 1.015625) / 1024.0))
\\set en exp(pi() * (1 - 2 * (:y - 0.015625) / 1024.0))
`
const latitude = (name) => `degrees(atan((:${name}::float8 - 1 / :${name}::float8) / 2))::text`

async function tiles() {
  const edge = await startEdge()
  const { x0, x1, y0, y1 } = span(ZOOM)
  const [statement] = await statementOf(
    edge,
    `/vectors/public-points/tiles/9/${span(9).x0 + 1}/${span(9).y0 + 1}.mvt`,
    'WITH found AS',
  )
  // The parameters of `tileOfTable`: zoom, column, row, the box, and the name of the layer.
  const given = [':z', ':x', ':y', ':w', latitude('ey'), ':e', latitude('en'), "'public-points'"]
  const sql = statement.replaceAll(/\$(\d+)/g, (_, n) => given[n - 1])
  const ends = { X0: x0, X1: x1 - 1, Y0: y0, Y1: y1 - 1 }
  const script = `${TILE.replaceAll(/[XY][01]/g, (name) => ends[name])}${sql};\n`
  const places = placesOf(ZOOM)
  const share = Math.ceil(places.length / rounds)
  const uncached = async (round) => {
    const part = places.slice(round * share, (round + 1) * share)
    const paths = part.map(([x, y]) => `/vectors/public-points/tiles/${ZOOM}/${x}/${y}.mvt`)
    const result = await load(edge, requestsOf(edge, paths))
    if (result.requests > part.length)
      console.error(`${result.requests} requests for ${part.length} tiles: some were kept`)
    return result.rate
  }
  await compare('uncached tiles: tiles/s, pgbench', 'at least 0.9', uncached, () => pgbench(script))
}

async function kept() {
  const edge = await startEdge()
  for (;;) {
    const { tiles } = await edge.gateway.admin.call('/vectors/file')
    if (tiles.status === 'ready') break
    if (tiles.status === 'failed') throw new Error(tiles.message)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  const codes = ['public-points', 'file']
  const pathOf = (code, [x, y]) => `/vectors/${code}/tiles/${ZOOM}/${x}/${y}.mvt`
  // Tiles that both have, with as many bytes.
  const places = []
  for (const place of placesOf(ZOOM)) {
    const [one, other] = [await get(edge, pathOf(codes[0], place)), await get(edge, pathOf(codes[1], place))]
    const isAlike = one.status === 200 && other.status === 200 && Math.abs(one.bytes / other.bytes - 1) < 0.2
    if (isAlike) places.push(place)
    if (places.length === 100) break
  }
  console.error(`${places.length} tiles`)
  const own = new Map(
    codes.map((code) => [
      code,
      requestsOf(
        edge,
        places.map((place) => pathOf(code, place)),
      ),
    ]),
  )
  for (const requests of own.values()) await load(edge, requests, { connections: 32 })
  const rate = (code) => async () => {
    const { rate, statuses } = await load(edge, own.get(code), { connections: 32 })
    if (Object.keys(statuses).join() !== '200') console.error(code, statuses)
    return rate
  }
  await compare('kept tiles: tiles/s, those of a file', 'at least 0.95', rate('public-points'), rate('file'))
}

async function items() {
  const edge = await startEdge()
  const side = Math.sqrt((100 * 300) / features) * 0.999
  const box = () => {
    const [x, y] = [100 + Math.random() * 19.5, 25 + Math.random() * 14.5]
    return `${x.toFixed(5)},${y.toFixed(5)},${(x + side).toFixed(5)},${(y + side).toFixed(5)}`
  }
  const [statement, parameters] = await statementOf(
    edge,
    `/ogc/collections/public-points/items?limit=100&bbox=${box()}`,
    'SELECT "id"',
  )
  const values = new Map([...parameters.matchAll(/\$(\d+) = '([^']*)'/g)].map(([, n, value]) => [Number(n), value]))
  const seen = [...values].filter(([, value]) => /^\d+\.\d{3,}/.test(value))
  const sides = seen.map(([n], i) => [n, [':w', ':s', ':e', ':n'][i % 4]])
  const bound = Object.fromEntries(sides)
  const corner = (x, y) => `'[' || :${x}::float8 || ',' || :${y}::float8 || ']'`
  const ring = ['w s', 'e s', 'e n', 'w n', 'w s'].map((names) => corner(...names.split(' '))).join(" || ',' || ")
  const polygon = `('{"type":"Polygon","coordinates":[[' || ${ring} || ']]}')`
  const given = (value = '') => (value.startsWith('{"type":"Polygon"') ? polygon : `'${value}'`)
  const sql = statement.replaceAll(/\$(\d+)/g, (_, n) => bound[n] ?? given(values.get(Number(n))))
  const script = `\\set w random(10000000, 11950000) / 100000.0\n\\set s random(2500000, 3950000) / 100000.0\n\\set e :w + ${side}\n\\set n :s + ${side}\n${sql};\n`
  const requests = requestsOf(
    edge,
    Array.from({ length: 3_000 }, () => `/ogc/collections/public-points/items?limit=100&bbox=${box()}`),
  )
  await load(edge, requests, { seconds: 2 })
  for (const connections of [POOL, 16])
    await compare(
      `items of a box over ${connections} connections: requests/s, pgbench`,
      'at least 0.8',
      async () => (await load(edge, requests, { connections })).rate,
      () => pgbench(script),
    )
}

async function downloads() {
  const edge = await startEdge()
  for (const [form, path, goal] of [
    ['GeoJSON', '/vectors/public-points/download', 100],
    ['FlatGeobuf', '/vectors/public-points.fgb', 60],
  ]) {
    for (let round = 0; round < rounds; round++) {
      const before = memory(edge.pids(), 'now')
      let peak = 0
      const timer = setInterval(() => {
        peak = Math.max(peak, memory(edge.pids(), 'now') - before)
      }, 50)
      const begun = performance.now()
      let first = 0
      const onPart = () => {
        first ||= performance.now() - begun
      }
      let answer = await get(edge, path, onPart)
      while (answer.status === 503) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        first = 0
        answer = await get(edge, path, onPart)
      }
      clearInterval(timer)
      const ms = performance.now() - begun
      const rate = `${(answer.bytes / 1e3 / ms).toFixed(0)} MB/s, first byte ${(first / 1000).toFixed(1)} s`
      row(
        `${form}, ${(answer.bytes / 1e6).toFixed(0)} MB`,
        rate,
        answer.status,
        `+${(peak / 1e6).toFixed(0)} MB`,
        `${goal} MB/s, 200 MB`,
      )
    }
  }
}

async function slow() {
  const edge = await startEdge()
  const places = placesOf(8)
  for (const [x, y] of places) await get(edge, `/vectors/public-points/tiles/8/${x}/${y}.mvt`)
  const hot = requestsOf(
    edge,
    places.map(([x, y]) => `/vectors/public-points/tiles/8/${x}/${y}.mvt`),
  )
  const other = requestsOf(edge, ['/catalog/vectors'])
  const late = requestsOf(
    edge,
    Array.from({ length: 500 }, (_, i) =>
      i % 2 ? `/vectors/public-slow/tiles/12/${i}/1700.mvt` : `/ogc/collections/public-slow/items?limit=${1 + i}`,
    ),
  )
  for (const [name, requests, rate] of [
    ['kept tiles', hot, 4_000],
    ['catalog', other, 1_000],
  ]) {
    const found = []
    for (let round = 0; round < rounds; round++) {
      const alone = await load(edge, requests, { connections: 16, rate })
      const slowly = run({ port: edge.port, core: cores?.load, seconds: seconds + 2, connections: 64, requests: late })
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const next = await load(edge, requests, { connections: 16, rate })
      found.push([
        (next.p99 - alone.p99) / 1000,
        alone.p99 / 1000,
        next.p99 / 1000,
        JSON.stringify((await slowly).statuses),
      ])
    }
    found.sort(([a], [b]) => b - a)
    const [more, alone, next, statuses] = found[0]
    row(
      `${name} next to 64 clients of a slow table: p99 ms`,
      alone.toFixed(2),
      next.toFixed(2),
      `+${more.toFixed(2)}`,
      'at most +5',
      statuses,
    )
  }
}

try {
  for (const [name, part] of Object.entries({ tiles, kept, items, downloads, slow })) {
    if (!parts.includes(name)) continue
    await part()
    await ending.shift()()
  }
} finally {
  for (const end of ending) await end()
}
console.info(`load average ${loadAverage()}`)
console.info(textTable(['measure', 'gateway', 'other', 'ratio (worst)', 'goal', ''], rows))
