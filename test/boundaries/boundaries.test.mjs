import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** A copy of this repository's package files with a planted violation of each rule. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const tree = mkdtempSync(join(tmpdir(), 'gateway-boundaries-'))

const CONTROL_PLANE = (room) => `services/control-plane/src/${room}`

/** An import that runs upwards, for each folder of the edge. */
const EDGE = {
  ...{
    answers: 'http',
    auth: 'http',
    catalog: 'http',
    documents: 'http',
    features: 'http',
    files: 'sync',
    http: 'worker',
  },
  ...{ metrics: 'http', native: 'http', offline: 'supervisor', proxy: 'http', standards: 'http', styles: 'http' },
  ...{ supervisor: 'worker', sync: 'usage', tiles: 'native', usage: 'http', zip: 'http' },
}

function upwardsIn(folders) {
  return Object.entries(folders).map(([folder, other]) => [
    `in the edge, ${folder} imports ${other}`,
    `services/edge/src/${folder}`,
    `../${other}/somewhere.js`,
    `edge-${folder}-`,
  ])
}

const PLANTED = [
  // The package exports nothing, so no other package can import its modules.
  [
    'the tiler imports the control plane',
    'services/tiler/src',
    '@gateway/control-plane/app.js',
    'nothing-unresolvable',
  ],
  ['a library imports the tiler', 'libs/tilesets/src', '@gateway/tiler/engines/wasm.js', 'libs-tilesets-'],
  ['access imports the store', 'libs/core/src/access', '@gateway/store/connect.js', 'libs-core-'],
  ["the edge's http imports the tiler", 'services/edge/src/http', '@gateway/tiler/engines/wasm.js', 'services-edge-'],
  ['the edge imports fastify', 'services/edge/src', 'fastify', 'only-the-control-plane-knows-fastify'],
  ["the edge's http imports fastify", 'services/edge/src/http', 'fastify', 'only-the-control-plane-knows-fastify'],
  ['the edge migrates', 'services/edge/src', '@gateway/store/migrate.js', 'edge-does-not-migrate'],
  [
    'uWebSockets.js is imported elsewhere',
    'services/edge/src/tiles',
    'uWebSockets.js',
    'only-http-touches-uwebsockets',
  ],
  [
    'a relative path leads into another package',
    'libs/core/src/files',
    '../../../store/src/connect.js',
    'no-relative-path-',
  ],
  ['a dependency is not declared', 'libs/styles/src', 'zod', 'no-undeclared-dependency'],
  ['a dependency of a test is not declared', 'libs/styles/src/testing', 'zod', 'no-undeclared-dependency-of-tests'],
  ['a workspace package is not declared', 'libs/styles/src', '@gateway/store/connect.js', 'libs-styles-'],
  ['the files below a root import the settings', 'libs/core/src/files', '../settings/somewhere.js', 'core-files-'],
  ['a query imports the bus', 'libs/store/src', './bus/somewhere.js', 'store-queries-'],
  ['the bus imports the catalog', 'libs/store/src/bus', '../catalog/somewhere.js', 'store-bus-'],
  ['the doctor imports the launcher', 'services/tools/src/doctor', '../launcher/somewhere.js', 'tools-doctor-'],
  ['a development dependency is used', 'services/control-plane/src', 'standardwebhooks', 'no-development-dependency-'],
  ['an import cannot be resolved', 'libs/core/src/files', './nowhere.js', 'nothing-unresolvable'],
  ['deliveries import a feature', CONTROL_PLANE('deliveries'), '../pushes/somewhere.js', 'control-plane-deliveries-'],
  ['jobs import deliveries', CONTROL_PLANE('jobs'), '../deliveries/somewhere.js', 'control-plane-jobs-'],
  ['jobs import the catalog', CONTROL_PLANE('jobs'), '../catalog/somewhere.js', 'control-plane-jobs-'],
  ['the platform imports the catalog', CONTROL_PLANE('platform'), '../catalog/somewhere.js', 'control-plane-platform-'],
  [
    'the platform imports a feature',
    CONTROL_PLANE('platform/http'),
    '../../tokens/somewhere.js',
    'control-plane-platform-',
  ],
  ['the catalog imports deliveries', CONTROL_PLANE('catalog'), '../deliveries/somewhere.js', 'control-plane-catalog-'],
  [
    'the catalog imports a feature',
    CONTROL_PLANE('catalog/edit'),
    '../../slicing/somewhere.js',
    'control-plane-catalog-',
  ],
  ['a feature imports another', CONTROL_PLANE('system'), '../slicing/somewhere.js', 'control-plane-system-'],
  ['a feature imports the wiring', CONTROL_PLANE('tokens'), '../somewhere.js', 'control-plane-tokens-'],
  ['notifications import a feature', CONTROL_PLANE('notifications'), '../tokens/somewhere.js', 'control-plane-notif'],
  ...upwardsIn(EDGE),
  ['files import each other', 'libs/core/src/files', './circle.js', 'no-circle'],
].map(([what, directory, imported, rule], i) => ({ what, file: `${directory}/planted-${i}.ts`, imported, rule }))

const ALLOWED = [
  { file: 'libs/store/src/bus/allowed.ts', imported: '../somewhere.js' },
  { file: `${CONTROL_PLANE('deliveries')}/allowed.ts`, imported: '../jobs/somewhere.js' },
  { file: `${CONTROL_PLANE('tokens')}/allowed.ts`, imported: '../catalog/somewhere.js' },
  { file: 'services/control-plane/src/features.ts', imported: './tokens/somewhere.js' },
]

let violations

beforeAll(() => {
  for (const kind of ['libs', 'services']) {
    for (const name of readdirSync(join(root, kind))) copyPackage(join(kind, name), `@gateway/${name}`)
  }
  copyPackage('bench')
  copyPackage('test')
  for (const file of ['config/boundaries.cjs', 'package.json']) cpSync(join(root, file), join(tree, file))
  for (const name of ['fastify', 'zod', 'uWebSockets.js', 'standardwebhooks']) put(`node_modules/${name}/index.js`, '')
  for (const { file, imported } of [...PLANTED, ...ALLOWED]) plant(file, imported)
  violations = check()
})

afterAll(() => rmSync(tree, { recursive: true }))

test.each(ALLOWED)('$file imports $imported: allowed', ({ file }) => {
  expect(violations.filter(({ from }) => from === file)).toEqual([])
})

test.each(PLANTED)('$what: refused', ({ file, rule }) => {
  const found = violations
    .filter(({ from, to }) => from === file || to === file)
    .map((violation) => violation.rule.name)
  expect(found).toContainEqual(expect.stringContaining(rule))
})

function plant(file, imported) {
  const [, name, module] = imported.match(/^@gateway\/([^/]+)\/(.*)$/) ?? []
  if (name !== undefined) put(`node_modules/@gateway/${name}/dist/${module}`, '')
  if (imported.startsWith('../../../store')) put('libs/store/src/connect.ts', '')
  if (imported.endsWith('/somewhere.js')) put(join(dirname(file), imported.replace(/js$/, 'ts')), '')
  if (imported === './circle.js') put('libs/core/src/files/circle.ts', `import './${basename(file, '.ts')}.js'\n`)
  put(file, `import '${imported}'\n`)
}

function check() {
  const command = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const args = [command, '--config', 'config/boundaries.cjs', '--output-type', 'json', 'libs', 'services']
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout).summary.violations
}

function copyPackage(directory, name) {
  put(join(directory, 'src/.keep'), '')
  cpSync(join(root, directory, 'package.json'), join(tree, directory, 'package.json'))
  if (name === undefined) return
  mkdirSync(join(tree, 'node_modules/@gateway'), { recursive: true })
  symlinkSync(join('../..', directory), join(tree, 'node_modules', name))
}

function put(file, text) {
  mkdirSync(dirname(join(tree, file)), { recursive: true })
  writeFileSync(join(tree, file), text)
}
