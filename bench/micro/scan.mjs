/**
 * The time of scans: of many versions of one tile each, for the first time and when nothing has changed, and of a version of many tiles.
 *
 *     node bench/micro/scan.mjs [--basemaps 2000] [--versions 5] [--tiles 1000000] [--rounds 3]
 *
 * Starts a Postgres and a control plane, and ends them. Tiles are links to a thousand files, so that a million take seconds to make. Processor time is
 * that of the control plane and of what it starts. Load: none.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { admin, controlPort, end, home, processorSeconds, start } from './own-gateway.mjs'

const { values } = parseArgs({
  options: {
    basemaps: { type: 'string', default: '2000' },
    versions: { type: 'string', default: '5' },
    tiles: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
  },
})
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
)
const COLUMN = 1000

for (let b = 0; b < Number(values.basemaps); b++) {
  for (let v = 0; v < Number(values.versions); v++) {
    const folder = join(home, 'many', `map-${b}`, `v${v}`, '0', '0')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '0.png'), PIXEL)
  }
}
const large = join(home, 'large', 'world', 'v1', '10')
mkdirSync(join(large, '0'), { recursive: true })
writeFileSync(join(large, '0', '0.png'), PIXEL)
for (let y = 1; y < COLUMN; y++) copyFileSync(join(large, '0', '0.png'), join(large, '0', `${y}.png`))
for (let x = 1; x < Number(values.tiles) / COLUMN; x++)
  execFileSync('cp', ['-al', join(large, '0'), join(large, String(x))])

await start('control-plane', controlPort, {})
for (const source of ['many', 'large']) {
  await admin('POST', '/scan-sources', { code: source, kind: 'basemap', path: join(home, source) })
  for (let round = 0; round <= Number(values.rounds); round++) {
    const cpuBefore = processorSeconds()
    const before = performance.now()
    const scan = await admin('POST', `/scan-sources/${source}/run`)
    const seconds = ((performance.now() - before) / 1000).toFixed(2)
    const cpu = (processorSeconds() - cpuBefore).toFixed(2)
    console.log(
      `${source}, ${round === 0 ? 'first' : 'unchanged'}: ${seconds} s, ${cpu} s of processor time, ${scan.status}, ${scan.added} added`,
    )
  }
}
await end()
