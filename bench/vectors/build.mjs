// How long vectors take to become an index and tiles, and how much memory that takes:
//   node bench/vectors/build.mjs [points|polygons|land|large|linear|small ...] [--rounds 1] [--memory 1500]
// Needs GDAL and `npx tsc -b`. Prints a table; each row is the worst of its rounds.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { textTable } from '../dist/report/text-table.js'
import { folder, vectorFile } from './data.mjs'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '1' },
    memory: { type: 'string', default: '1500' },
  },
})

/** Kind, features, deepest zoom, and the goal in seconds. */
const CASES = {
  points: [['points', 300_000, 10, 40]],
  polygons: [['polygons', 200_000, 12, null]],
  land: [['land', 1_000_000, 14, 600]],
  // 2 GB of GeoJSON.
  large: [['outlines', 350_000, 3, null]],
  linear: [
    ['points', 50_000, 10, null],
    ['points', 500_000, 10, null],
    ['polygons', 20_000, 12, null],
    ['polygons', 200_000, 12, null],
  ],
  small: [
    ['points', 20_000, null, 2],
    ['polygons', 8_000, null, 2],
  ],
}

const CHILD = fileURLToPath(new URL('build-child.mjs', import.meta.url))
const SAMPLE_MS = 100

/** Resident bytes of a process and all below it. */
function memoryBelow(pid) {
  let total = 0
  try {
    total += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
    for (const task of readdirSync(`/proc/${pid}/task`))
      for (const child of readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
        if (child !== '') total += memoryBelow(Number(child))
  } catch {
    // It has ended meanwhile.
  }
  return total
}

async function build(kind, count, maxZoom) {
  const path = vectorFile(kind, count)
  const output = mkdtempSync(join(tmpdir(), 'vector-build-'))
  const task = {
    ...{
      source: { root: folder, path },
      kind: 'geojson',
      fingerprint: null,
      encoding: null,
      code: kind,
      name: kind,
    },
    ...{
      crs: 'OGC:CRS84',
      output,
      limits: { memoryMb: Number(values.memory) },
      minZoom: 0,
      maxZoom,
      fields: null,
    },
  }
  const startedAt = performance.now()
  const child = spawn(process.execPath, [CHILD, JSON.stringify(task)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, memoryBelow(child.pid))
  }, SAMPLE_MS)
  const answer = await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('close', (code) => reject(new Error(`the build ended with ${code}`)))
  })
  clearInterval(sampling)
  const wall = (performance.now() - startedAt) / 1000
  child.kill()
  const indexBytes = statSync(join(output, 'index.gpkg')).size
  rmSync(output, { recursive: true, force: true })
  return {
    wall,
    cpu: answer.seconds,
    peak,
    sourceBytes: statSync(path).size,
    indexBytes,
    ...answer.built,
  }
}

const HEAD = ['case', 'source MB', 'zooms', 'wall s', 'goal s', 'builder cpu s', 'peak MB', 'tiles MB', 'index MB']
const rows = []
const mega = (bytes) => (bytes / 1e6).toFixed(1)
const chosen = positionals.length === 0 ? Object.keys(CASES).filter((name) => name !== 'large') : positionals
for (const name of chosen) {
  for (const [kind, count, maxZoom, goal] of CASES[name]) {
    let worst = null
    for (let round = 0; round < Number(values.rounds); round++) {
      const built = await build(kind, count, maxZoom)
      if (worst === null || built.wall > worst.wall) worst = built
    }
    const { wall, cpu, peak, sourceBytes, bytes, indexBytes, minZoom, maxZoom: deepest } = worst
    const numbers = [wall.toFixed(2), goal ?? '', cpu.toFixed(2), mega(peak), mega(bytes), mega(indexBytes)]
    rows.push([`${name}: ${count} ${kind}`, mega(sourceBytes), `${minZoom}-${deepest}`, ...numbers].map(String))
  }
}
console.log(textTable(HEAD, rows))
