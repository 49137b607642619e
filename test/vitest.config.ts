import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
const { icons } = await import(`${root}services/console/icons-plugin.mjs`)

/** Directories of tests that run the built processes and test them as black boxes. */
const SYSTEM = 'test/{conformance,e2e,fault}'

/** Integration tests that need a process for each file: those of edges, because the native addon serves one listener, and of tools. */
const ISOLATED = '{libs/{native-edge,tilesets,vectors},services/{edge,tiler,tools}}/src/**/*.integration.test.ts'

/** Before every file: counts its processor time for `npm test -- --profile`. */
const PROCESSOR_TIME = 'test/harness/processor-time.ts'

const INTEGRATION = {
  // Half of the tests wait: for rescans of files, for leases, for processes to start.
  maxWorkers: 3,
  globalSetup: 'test/harness/global-setup.ts',
  testTimeout: 120_000,
  hookTimeout: 120_000,
}

/**
 * The layers, each a project, or two with a common prefix, which `test/run.mjs` runs separately in sequence:
 * unit (only the test's own process), integration (`*.integration.test.ts`: real Postgres, Redis, child processes), and system.
 */
export default defineConfig({
  root,
  plugins: [icons()],
  // Tests run the sources, so that most tests need no build; only the processes that they start are the built ones.
  resolve: {
    alias: [
      { find: /^@gateway\/(tiler|tools)\/(.+)\.js$/, replacement: `${root}services/$1/src/$2.ts` },
      { find: /^@gateway\/([^/]+)\/(.+)\.js$/, replacement: `${root}libs/$1/src/$2.ts` },
    ],
  },
  test: {
    pool: 'forks',
    // Limits are for what hangs: a machine with many more processes than cores takes a minute for what takes two seconds otherwise.
    expect: { poll: { timeout: 60_000 } },
    // Prevents flaky tests on two cores: the gateway under test needs one of them.
    maxWorkers: 2,
    setupFiles: PROCESSOR_TIME,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // Starting a worker for a file takes more processor time than most files. Each one restores what it changes in its process.
          isolate: false,
          include: [
            '{libs,services}/*/{src,setup}/**/*.test.{ts,tsx,mjs}',
            'bench/src/**/*.test.ts',
            'test/lint/*.test.ts',
            'test/boundaries/*.test.mjs',
            'test/deploy/*.test.{ts,mjs}',
          ],
          exclude: ['**/*.integration.test.*', '**/node_modules/**', 'services/console/src/**/*.test.tsx'],
          // Some tests run npm or a linter, which take ten times as long on a busy processor.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          // Part of the unit layer. Loading React takes three times as long as the tests of a file, so a worker loads it once.
          name: 'unit-components',
          isolate: false,
          setupFiles: [PROCESSOR_TIME, 'services/console/src/testing/setup.ts'],
          include: ['services/console/src/**/*.test.tsx'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          ...INTEGRATION,
          // The files of a service share most of its modules, which take longer to load than many tests.
          isolate: false,
          include: ['{libs,services}/*/src/**/*.integration.test.ts', 'test/harness/**/*.integration.test.ts'],
          exclude: [ISOLATED, '**/node_modules/**'],
        },
      },
      {
        extends: true,
        test: {
          // Part of the integration layer: each file needs its own process.
          name: 'integration-isolated',
          ...INTEGRATION,
          include: [ISOLATED],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          // The tests wait for limits and restarts more than they compute.
          maxWorkers: 4,
          // Files share only the harness, whose modules take longer to load than many tests.
          isolate: false,
          include: [`${SYSTEM}/**/*.test.ts`],
          globalSetup: 'test/harness/global-setup.ts',
          // Several times the start and stop of a gateway when four files share two cores.
          testTimeout: 240_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          // Not a layer: runs that take longer than a test may; see test/soak/run.mjs.
          name: 'by-hand',
          include: ['test/soak/**/*.soak.ts', 'test/clients/**/*.clients.ts'],
          globalSetup: 'test/harness/global-setup.ts',
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
