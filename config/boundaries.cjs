/**
 * Which package may import which, for dependency-cruiser (`npm run lint`). Arrows point one way: services -> libs -> libs/contracts.
 * `test/boundaries/` plants a violation of each rule and expects it to be found.
 */

const { readFileSync } = require('node:fs')
const { join } = require('node:path')

/** What each library may import of the others. A library that is not named here may import none. */
const LIBRARIES = {
  access: ['contracts'],
  bus: ['contracts', 'store'],
  catalog: ['access', 'contracts', 'store', 'tilesets'],
  contracts: [],
  'embedded-postgres': ['processes', 'store'],
  files: [],
  logging: ['access'],
  'native-edge': [],
  'object-storage': ['contracts', 'outgoing', 'processes', 'settings'],
  outgoing: ['contracts', 'settings'],
  processes: [],
  settings: ['contracts'],
  store: ['contracts'],
  styles: [],
  tilesets: ['contracts', 'files', 'object-storage'],
  tiling: ['contracts'],
  tracing: [],
  vectors: ['contracts', 'files', 'logging', 'processes', 'tilesets', 'tiling'],
}

/** What each service may import of the libraries; none may import another service. */
const SERVICES = {
  console: ['contracts'],
  'control-plane': [
    'access',
    'bus',
    'catalog',
    'contracts',
    'files',
    'logging',
    'object-storage',
    'outgoing',
    'processes',
    'settings',
    'store',
    'styles',
    'tilesets',
    'tiling',
    'tracing',
    'vectors',
  ],
  edge: [
    'access',
    'bus',
    'catalog',
    'contracts',
    'files',
    'logging',
    'native-edge',
    'object-storage',
    'processes',
    'settings',
    'store',
    'styles',
    'tilesets',
    'tracing',
    'vectors',
  ],
  doctor: ['bus', 'native-edge', 'settings', 'store'],
  launcher: ['contracts', 'embedded-postgres', 'logging', 'processes', 'settings', 'tilesets'],
  tiler: ['contracts', 'files', 'processes', 'tilesets', 'tiling'],
}

const TESTS = '\\.test\\.[a-z]+$|/testing/|/test-server/|/proof/'

const PACKAGES = [
  ...Object.entries(LIBRARIES).map(([name, allowed]) => ({ directory: `libs/${name}`, allowed })),
  ...Object.entries(SERVICES).map(([name, allowed]) => ({ directory: `services/${name}`, allowed })),
  { directory: 'bench', allowed: Object.keys(LIBRARIES) },
  { directory: 'test', allowed: Object.keys(LIBRARIES) },
]

/** Another package of this repository is imported only where both the table above and the importing package's package.json name it. */
function packageRule({ directory, allowed }) {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(join(process.cwd(), directory, 'package.json'), 'utf8'),
  )
  const declared = allowed.filter((name) => `@gateway/${name}` in { ...dependencies, ...devDependencies })
  return {
    name: `${directory.replace('/', '-')}-imports-only-what-it-may`,
    comment: `${directory} may import ${allowed.join(', ') || 'no other package'}; of these its package.json names ${declared.join(', ') || 'none'}.`,
    severity: 'error',
    from: { path: `^${directory}/` },
    to: {
      path: '^(libs|services|bench|test)/',
      pathNot: [`^${directory}/`, ...declared.map((name) => `^(libs|services)/${name}/`)],
    },
  }
}

/** Rooms of the control plane, and what each may import of the others: features -> deliveries, catalog -> jobs -> platform. */
const SHARED_ROOMS = {
  platform: [],
  catalog: ['platform', 'jobs'],
  jobs: ['platform'],
  deliveries: ['platform', 'jobs'],
}

/** Features do not know one another; features.ts wires them. */
const FEATURES = ['exports', 'operators', 'pushes', 'signing', 'slicing', 'system', 'tokens', 'vectors']

const ROOMS = {
  ...SHARED_ROOMS,
  ...Object.fromEntries(FEATURES.map((feature) => [feature, Object.keys(SHARED_ROOMS)])),
}

const CONTROL_PLANE = '^services/control-plane/src/'

function roomRule([room, allowed]) {
  return {
    name: `control-plane-${room}-imports-only-what-it-may`,
    comment: `Of the control plane's other rooms, ${room} may import ${allowed.join(', ') || 'none'}.`,
    severity: 'error',
    from: { path: `${CONTROL_PLANE}${room}/`, pathNot: TESTS },
    to: { path: CONTROL_PLANE, pathNot: [room, ...allowed].map((name) => `${CONTROL_PLANE}${name}/`) },
  }
}

module.exports = {
  forbidden: [
    ...PACKAGES.map(packageRule),
    ...Object.entries(ROOMS).map(roomRule),
    {
      name: 'no-circle',
      comment: 'Files that import each other cannot be understood, tested or moved one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-relative-path-into-another-package',
      comment: 'Another package is imported by its name, through its exports.',
      severity: 'error',
      from: { path: '^((?:libs|services)/[^/]+|bench|test)/' },
      to: { dependencyTypesNot: ['aliased-workspace'], path: '^(libs|services|bench|test)/', pathNot: '^$1/' },
    },
    {
      name: 'no-undeclared-dependency',
      comment: "A package is listed in the importing package's own package.json.",
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-development-dependency-in-production',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: [TESTS, '^services/console/'] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nothing-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'only-http-touches-uwebsockets',
      comment: 'The server library stays behind libs/native-edge/src/uws.ts, and that behind services/edge/src/http.',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: ['^services/edge/src/http/', '^libs/native-edge/', TESTS] },
      to: { path: ['uWebSockets\\.js', '^libs/native-edge/(src|dist)/uws/'] },
    },
    {
      name: 'only-the-control-plane-knows-fastify',
      severity: 'error',
      from: { path: '^(libs|services/(edge|launcher|tiler|console))/' },
      to: { path: 'node_modules/(fastify|@fastify)/' },
    },
    {
      name: 'edge-does-not-migrate',
      severity: 'error',
      from: { path: '^services/edge/', pathNot: TESTS },
      to: { path: '^libs/store/(src|dist)/migrate' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    exclude: { path: ['^services/(console|docs)/', '\\.css$'] },
    parser: 'swc',
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default', 'node'] },
  },
}
