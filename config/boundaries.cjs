/**
 * Which package may import which, for dependency-cruiser (`npm run lint`). Arrows point one way: services -> libs -> libs/contracts.
 * `test/boundaries/` plants a violation of each rule and expects it to be found.
 */

const { readFileSync } = require('node:fs')
const { join } = require('node:path')

/** The other libraries that each library may import. A library that is not named here may import none. */
const LIBRARIES = {
  contracts: [],
  core: ['contracts'],
  'native-edge': [],
  store: ['contracts', 'core', 'tilesets'],
  styles: ['contracts', 'core'],
  tilesets: ['contracts', 'core'],
  vectors: ['contracts', 'core', 'tilesets'],
}

/** The libraries that each service may import. No service imports another. */
const SERVICES = {
  console: ['contracts', 'styles'],
  'control-plane': ['contracts', 'core', 'store', 'styles', 'tilesets', 'vectors'],
  edge: ['contracts', 'core', 'native-edge', 'store', 'styles', 'tilesets', 'vectors'],
  renderer: ['contracts', 'core'],
  tiler: ['contracts', 'core', 'tilesets'],
  tools: ['contracts', 'core', 'native-edge', 'store', 'tilesets'],
}

/** Bench and tests start the embedded Postgres of the tools. */
const OUTSIDE = [...Object.keys(LIBRARIES), 'tools']

const TESTS = '\\.test\\.[a-z]+$|/testing/'

const TEST_PACKAGES = Object.keys(
  JSON.parse(readFileSync(join(process.cwd(), 'test/package.json'), 'utf8')).devDependencies,
)

const PACKAGES = [
  ...Object.entries(LIBRARIES).map(([name, allowed]) => ({ directory: `libs/${name}`, allowed })),
  ...Object.entries(SERVICES).map(([name, allowed]) => ({ directory: `services/${name}`, allowed })),
  // Simulated edges follow by the code of the real ones.
  { directory: 'bench', allowed: [...OUTSIDE, 'edge'] },
  { directory: 'test', allowed: OUTSIDE },
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

/** Folders of the control plane, and the others that each may import: features -> deliveries, catalog -> jobs -> platform. */
const SHARED_FOLDERS = {
  platform: [],
  catalog: ['platform', 'jobs'],
  jobs: ['platform'],
  deliveries: ['platform', 'jobs'],
}

/** Features do not import one another; features.ts wires them. */
const FEATURES = [
  'exports',
  'notifications',
  'operators',
  'pushes',
  'seeds',
  'signing',
  'slicing',
  'system',
  'tokens',
  'vectors',
]

/** Folders of the edge, and the others that each may import, from the bottom to the top: http -> native -> tiles -> sync. */
const EDGE_FOLDERS = {
  auth: [],
  files: [],
  metrics: [],
  proxy: [],
  sync: [],
  documents: ['files'],
  offline: ['sync'],
  usage: ['sync'],
  catalog: ['documents', 'sync'],
  standards: ['documents', 'sync'],
  styles: ['files', 'sync'],
  zip: ['files', 'sync'],
  pictures: ['auth', 'styles', 'sync'],
  tiles: ['files', 'metrics', 'pictures', 'sync'],
  features: ['sync', 'tiles'],
  answers: ['tiles'],
  native: ['answers', 'auth', 'files', 'metrics', 'standards', 'sync', 'tiles', 'usage'],
  supervisor: ['metrics', 'offline', 'sync', 'usage', 'own-version.ts'],
}

/** Everything that a request passes, which http joins. */
const BELOW_HTTP = Object.keys(EDGE_FOLDERS).filter((folder) => !['offline', 'supervisor', 'zip'].includes(folder))

/** The other folders, and files, of the same package that each folder may import. */
const FOLDERS = {
  'services/edge': { ...EDGE_FOLDERS, http: [...BELOW_HTTP, 'edge.ts'] },
  'services/control-plane': {
    ...SHARED_FOLDERS,
    ...Object.fromEntries(FEATURES.map((feature) => [feature, Object.keys(SHARED_FOLDERS)])),
  },
  'libs/core': {
    access: [],
    files: [],
    logging: ['access'],
    'object-storage': ['outgoing', 'processes', 'settings'],
    outgoing: ['processes', 'settings'],
    processes: ['files'],
    settings: [],
    tracing: [],
    upstream: ['access', 'files', 'lanes', 'object-storage', 'outgoing', 'settings'],
  },
  'services/tools': {
    doctor: ['machine'],
    'embedded-postgres': [],
    launcher: ['embedded-postgres', 'machine'],
    machine: [],
  },
}

function folderRule(directory, [folder, allowed]) {
  const sources = `^${directory}/src/`
  return {
    name: `${directory.split('/')[1]}-${folder}-imports-only-what-it-may`,
    comment: `In ${directory}, ${folder} may import ${allowed.join(', ') || 'no other folder'}.`,
    severity: 'error',
    from: { path: `${sources}${folder}/`, pathNot: TESTS },
    to: {
      path: sources,
      pathNot: [folder, ...allowed].map((name) => `${sources}${name}${name.includes('.') ? '$' : '/'}`),
    },
  }
}

/** Queries are below the bus and the catalog, which read them. */
const STORE_RULES = [
  {
    name: 'store-queries-import-only-what-they-may',
    comment: 'The queries of libs/store import neither the bus nor the catalog.',
    severity: 'error',
    from: { path: '^libs/store/src/[^/]+$', pathNot: TESTS },
    to: { path: '^libs/store/src/(bus|catalog)/' },
  },
  {
    name: 'store-bus-imports-only-what-it-may',
    comment: 'In libs/store, bus and catalog do not import each other.',
    severity: 'error',
    from: { path: '^libs/store/src/(bus|catalog)/', pathNot: TESTS },
    to: { path: '^libs/store/src/(bus|catalog)/', pathNot: '^libs/store/src/$1/' },
  },
]

module.exports = {
  forbidden: [
    ...PACKAGES.map(packageRule),
    ...Object.entries(FOLDERS).flatMap(([directory, folders]) =>
      Object.entries(folders).map((rule) => folderRule(directory, rule)),
    ),
    ...STORE_RULES,
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
      comment:
        "A package is listed in the importing package's own package.json; tests next to the code may import the runner.",
      severity: 'error',
      from: { pathNot: TESTS },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-undeclared-dependency-of-tests',
      comment: 'test/package.json lists the packages for tests, so that a start does not install them.',
      severity: 'error',
      from: { path: TESTS },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: `^node_modules/(${TEST_PACKAGES.join('|')})/` },
    },
    {
      name: 'no-development-dependency-in-production',
      severity: 'error',
      // The set-up runs bundlers before a gateway starts.
      from: { path: '^(libs|services)/', pathNot: [TESTS, '^services/console/', '^services/tools/setup/'] },
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
      from: { path: '^(libs|services/(edge|tools|tiler|console))/' },
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
    exclude: { path: ['^services/console/', '^services/tools/docs/', '\\.css$'] },
    parser: 'swc',
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default', 'node'] },
  },
}
