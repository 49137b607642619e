import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTemplate } from '@gateway/store/testing/fresh-store.js'
import { startEmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'
import { makeBundles } from '@gateway/tools/setup/bundles.mjs'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** postgres:// URL of the run's own server, with the rights to create databases */
    postgresUrl: string
    /** folder of the bundled services, which mirrors the checkout */
    bundles: string
  }
}

/**
 * Bundles the compiled services unless their bundles exist, and starts one Postgres server for a run of a layer. Every gateway and every test
 * gets a separate database in it on request, copied from a migrated one.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bundles = await makeBundles(project.config.root)
  project.provide('bundles', bundles)
  const dir = await mkdtemp(join(tmpdir(), 'gateway-test-postgres-'))
  const server = await startEmbeddedPostgres({
    dir,
    durable: false,
    // Four files of the system layer run at once, and a gateway may take up to 60 connections (docs/sizing.md), tests more.
    maxConnections: 600,
    log: (level, message) => {
      if (level === 'error') console.error(`postgres: ${message}`)
    },
    onLost: (reason) => console.error(`postgres is lost: ${reason}`),
  })
  await makeTemplate(server.url)
  project.provide('postgresUrl', server.url)
  // Workers do not inherit what vitest provides, and tests in libs do not use the harness, so they read these variables.
  process.env.TEST_POSTGRES_URL = server.url
  process.env.TEST_BUNDLES = bundles
  return async () => {
    await server.stop()
    await rm(dir, { recursive: true })
  }
}
