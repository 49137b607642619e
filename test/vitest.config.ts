import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The directories of tests that run the built processes from outside. */
const SYSTEM = 'test/{conformance,e2e,fault}'

/**
 * The layers, each a project that `test/run.mjs` runs on its own, one after the other:
 * unit (no process but the test's own), integration (`*.integration.test.ts`: real Postgres, Redis, child processes), and system.
 */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    // Two cores must not flake: the gateway under test needs one of them.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{libs,services}/*/{src,setup}/**/*.test.{ts,tsx,mjs}', 'bench/src/**/*.test.ts'],
          exclude: ['**/*.integration.test.*', '**/node_modules/**'],
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
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
          include: [`${SYSTEM}/**/*.test.ts`],
          globalSetup: 'test/harness/global-setup.ts',
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
