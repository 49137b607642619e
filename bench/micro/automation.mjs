/**
 * Measures the automation's costs: how soon a new file among a million is served, and how late a planned switch is on each edge.
 *
 *     node bench/micro/automation.mjs [--files 1000000] [--rounds 4] [--edges 2] [--out bench/results/automation.json]
 *
 * Starts a Postgres, a control plane and edges of one worker each, and ends them. Files are links to a thousand, so that a million take seconds to
 * make. Processor time is that of the control plane, of what it starts, and of all edges, with what they do when nothing changes. Load: none.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '@gateway/core/processes/readiness.js'
import { admin, controlPort, end, home, processorSeconds, start } from './own-gateway.mjs'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '4' },
    edges: { type: 'string', default: '2' },
    out: { type: 'string' },
  },
})
/** A folder of so many files, a thousand in each folder: links to the first thousand. */
function makeFiles(root, count, nameOf, content) {
  mkdirSync(join(root, '0'), { recursive: true })
  for (let i = 0; i < 1000; i++) writeFileSync(join(root, '0', nameOf(i)), content)
  for (let at = 1; at < count / 1000; at++) execFileSync('cp', ['-al', join(root, '0'), join(root, String(at))])
}

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
)
const POINT = '{"type":"Point","coordinates":[8,47]}'
const count = Number(values.files)
makeFiles(join(home, 'maps/world/v1/10'), Math.min(count, 1_000_000), (i) => `${i}.png`, PIXEL)
makeFiles(join(home, 'files'), count, (i) => `${i}.txt`, 'note')
for (let i = 0; i < 1000; i++) writeFileSync(join(home, 'files', '0', `known-${i}.geojson`), POINT)

const edges = []
await start('control-plane', controlPort, {})
for (let i = 0; i < Number(values.edges); i++) {
  const port = await freePort()
  await start('edge', port, { API_PORT: String(port) })
  edges.push(`http://127.0.0.1:${port}`)
}
for (const [code, kind] of [
  ['maps', 'basemap'],
  ['files', 'vector'],
]) {
  await admin('POST', '/scan-sources', { code, kind, path: join(home, code), watch: true })
}
const { token } = await admin('POST', '/tokens', { name: 'bench', basemap_codes: ['*'], vector_codes: ['*'] })
const isThere = async (url) => {
  const answer = await fetch(`${url}?token=${token}`, { method: 'GET' })
  await answer.arrayBuffer()
  return answer.status === 200
}
const scansOf = async (code) => (await admin('GET', `/scan-sources/${code}/scans`)).items
for (const code of ['maps', 'files']) {
  while (!(await scansOf(code)).some(({ status }) => status === 'succeeded')) await sleep(500)
}

/** Seconds until all edges serve something, and the processor time of all processes until a second later, with all that they do besides. */
async function timed(change, path) {
  await sleep(12_000) // scans of a source are 10 s apart
  const [began, before] = [performance.now(), processorSeconds()]
  change()
  for (const edge of edges) while (!(await isThere(`${edge}${path}`))) await sleep(50)
  const seconds = (performance.now() - began) / 1000
  await sleep(1000)
  return { seconds, cpu: processorSeconds() - before }
}

const results = { files: count }
const rounds = Array.from({ length: Number(values.rounds) }, (_, i) => i)
const cases = {
  'a tile in a column that is there': (i) => [
    () => copyFileSync(join(home, 'maps/world/v1/10/0/0.png'), join(home, `maps/world/v1/10/0/${1000 + i}.png`)),
    `/tiles/world/v1/10/0/${1000 + i}.png`,
  ],
  'a new version, renamed into place': (i) => {
    const aside = join(home, `aside-${i}`)
    mkdirSync(join(aside, '0/0'), { recursive: true })
    writeFileSync(join(aside, '0/0/0.png'), PIXEL)
    return [() => renameSync(aside, join(home, `maps/world/w${i}`)), `/tiles/world/w${i}/0/0/0.png`]
  },
  'a new vector among a million files': (i) => [
    () => writeFileSync(join(home, 'files', '1', `new-${i}.geojson`), POINT),
    `/vectors/1-new-${i}/download`,
  ],
}
for (const [name, prepare] of Object.entries(cases)) {
  const all = []
  for (const i of rounds) all.push(await timed(...prepare(i)))
  results[name] = all
  console.log(name, all.map(({ seconds, cpu }) => `${seconds.toFixed(2)} s, ${cpu.toFixed(2)} s of cpu`).join('; '))
}
results.scans = (await scansOf('files'))
  .slice(0, 3)
  .map(({ reason, changed, added, steps }) => ({ reason, changed, added, steps }))

/** Milliseconds after its time at which each edge serves the version of a planned switch. */
const versions = ['v1', ...rounds.map((i) => `w${i}`)]
results.switches = []
for (const i of rounds) {
  const version = versions[(i + 1) % versions.length]
  const at = Date.now() + 3000
  await admin('POST', '/basemaps/world/default-version', { version, at: new Date(at).toISOString() })
  const late = await Promise.all(
    edges.map(async (edge) => {
      for (;;) {
        const answer = await fetch(`${edge}/tiles/world/tilejson.json?token=${token}`)
        if ((await answer.text()).includes(`/world/${version}/`)) return Date.now() - at
        await sleep(10)
      }
    }),
  )
  results.switches.push(late)
}
console.log('a planned switch, ms after its time on each edge', JSON.stringify(results.switches))
if (values.out) writeFileSync(values.out, `${JSON.stringify(results, null, 2)}\n`)
await end()
