import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))

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
