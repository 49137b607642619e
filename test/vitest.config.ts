import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * What takes longest, in that order. In a fresh clone vitest knows no durations and goes by the size of files, so that some of these would
 * begin last and run alone while the other workers have nothing left to do.
 */
const LONGEST = [
  'test/e2e/console-pages.test.ts',
  'test/e2e/start.test.ts',
  'test/e2e/map-clients.test.ts',
  'test/fault/start-without-store.test.ts',
  'test/e2e/console-names.test.ts',
  'test/e2e/console-resilience.test.ts',
  'test/fault/slicing-crash.test.ts',
  'test/e2e/docs.test.ts',
  'test/e2e/producers.test.ts',
  'test/fault/bus-cut.test.ts',
  'test/e2e/console-sign-in.test.ts',
  'test/fault/hung-mount.test.ts',
  'test/fault/deliveries-crash.test.ts',
  'test/conformance/token-changes.test.ts',
  'test/conformance/slicing.test.ts',
  'test/fault/rolling-restart.test.ts',
  'test/e2e/console-live.test.ts',
  'test/e2e/console-slicing.test.ts',
  'test/fault/stopped-worker.test.ts',
  'test/e2e/cluster.test.ts',
  'libs/native-edge/src/fuzz.integration.test.ts',
  'services/edge/src/native/publisher-times.integration.test.ts',
  'services/tiler/src/grids.integration.test.ts',
  'services/tiler/src/hostile.integration.test.ts',
  'services/tiler/src/imagery.integration.test.ts',
  'services/tiler/src/places.integration.test.ts',
  'services/tiler/src/layers.integration.test.ts',
  'libs/native-edge/src/transfer/native.integration.test.ts',
  'libs/native-edge/src/transfer/copy.integration.test.ts',
  'services/control-plane/src/deliveries/files/zip-records.test.ts',
  'services/tools/setup/setup.test.mjs',
].map((path) => root + path)

const gone = LONGEST.filter((path) => !existsSync(path))
if (gone.length > 0) throw new Error(`test/vitest.config.ts names tests that are not there: ${gone.join(', ')}`)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      LONGEST.includes(moduleId) ? LONGEST.indexOf(moduleId) : LONGEST.length
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

/** The directories of tests that run the built processes from outside. */
const SYSTEM = 'test/{conformance,e2e,fault}'

/**
 * The layers, each a project, or two whose names begin alike, that `test/run.mjs` runs on its own, one after the other:
 * unit (no process but the test's own), integration (`*.integration.test.ts`: real Postgres, Redis, child processes), and system.
 */
export default defineConfig({
  root,
  // Tests run the sources, so that one test needs no build; only the processes that they start are the built ones.
  resolve: {
    alias: [
      { find: /^@gateway\/(tiler|tools)\/(.+)\.js$/, replacement: `${root}services/$1/src/$2.ts` },
      { find: /^@gateway\/([^/]+)\/(.+)\.js$/, replacement: `${root}libs/$1/src/$2.ts` },
    ],
  },
  test: {
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // A condition that is waited for comes about later than in a second, the default, where three files share two cores.
    expect: { poll: { timeout: 15_000 } },
    // Two cores must not flake: the gateway under test needs one of them.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            '{libs,services}/*/{src,setup}/**/*.test.{ts,tsx,mjs}',
            'bench/src/**/*.test.ts',
            'test/lint/*.test.ts',
            'test/boundaries/*.test.mjs',
            'test/deploy/*.test.{ts,mjs}',
          ],
          exclude: ['**/*.integration.test.*', '**/node_modules/**', 'services/console/src/**/*.test.tsx'],
          // Some run npm or a linter, which takes ten times as long where other tests want the processor.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          // Of the unit layer. Loading React for each file takes three times as long as its tests: a worker loads it once.
          name: 'unit-components',
          isolate: false,
          setupFiles: 'services/console/src/testing/setup.ts',
          include: ['services/console/src/**/*.test.tsx'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          // Half of them wait: for files to be looked at again, for leases, for processes to start.
          maxWorkers: 3,
          include: ['{libs,services}/*/src/**/*.integration.test.ts', 'test/harness/**/*.integration.test.ts'],
          globalSetup: 'test/harness/global-setup.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          // They wait for limits and restarts more than they compute.
          maxWorkers: 4,
          include: [`${SYSTEM}/**/*.test.ts`],
          globalSetup: 'test/harness/global-setup.ts',
          // These end what hangs: several times what a gateway's start and stop take where three files share two cores.
          testTimeout: 180_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          // No layer: what takes longer than a test may; see test/soak/run.mjs.
          name: 'by-hand',
          include: ['test/soak/**/*.soak.ts', 'test/clients/**/*.clients.ts'],
          globalSetup: 'test/harness/global-setup.ts',
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
