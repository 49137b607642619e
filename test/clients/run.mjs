/**
 * Tests with map clients that are too large for `npm test`, started by hand:
 *
 *   npm run clients                Cesium (130 MB, from the npm registry) and QGIS (930 MB, from Debian, if this runs as root)
 *   npm run clients -- cesium      one of them
 *   npm run clients -- time        a week of versions in QGIS and OpenLayers
 *   npm run clients -- styles      pictures of styles against a visible page; the styles are NAME/style.json in node_modules/.cache/clients/styles
 *   npm run clients -- first-picture   a labelled map in MapLibre on a slow line, against the same files from nginx (a quiet machine)
 *
 * The drawn maps are kept in test/artifacts/clients for inspection.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CESIUM = 'cesium@1.145.0'
const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const cache = join(root, 'node_modules/.cache/clients')
const inherited = /** @type {const} */ ({ stdio: 'inherit' })
const CLIENTS = ['cesium', 'qgis', 'time']
const ASKED_ONLY = ['styles', 'first-picture']
const asked = process.argv.length > 2 ? process.argv.slice(2) : CLIENTS
const unknown = asked.find((client) => ![...CLIENTS, ...ASKED_ONLY].includes(client))
if (unknown !== undefined) {
  console.error(`There is no ${unknown} here: ${[...CLIENTS, ...ASKED_ONLY].join(', ')}.`)
  process.exit(2)
}
const wants = (client) => asked.includes(client)

if (wants('cesium')) {
  mkdirSync(cache, { recursive: true })
  run('npm', ['install', '--prefix', cache, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', CESIUM])
}
if ((wants('qgis') || wants('time')) && !importsQgis()) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'python3-qgis', 'qgis-providers'], { env })
}
const files = asked.map((client) => `test/clients/${client}.clients.ts`)
run(process.execPath, [
  ...['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', 'by-hand'],
  ...files,
])

function importsQgis() {
  return spawnSync('/usr/bin/python3', ['-c', 'import qgis.core'], { stdio: 'ignore' }).status === 0
}

function run(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { cwd: root, ...inherited, ...options })
  if (status === 0) return
  console.error(`${program} ${error === undefined ? `ended with ${status}` : `does not start: ${error.message}`}`)
  process.exit(1)
}
