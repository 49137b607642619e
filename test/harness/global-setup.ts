import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** postgres:// address of the run's own server, with the rights to make databases */
    postgresUrl: string
  }
}

/** One Postgres server for a run of a layer; every gateway and every test that wants one gets a database of its own in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), 'gateway-test-postgres-'))
  const server = await startEmbeddedPostgres({
    dir,
    durable: false,
    log: (level, message) => {
      if (level === 'error') console.error(`postgres: ${message}`)
    },
    onLost: (reason) => console.error(`postgres is lost: ${reason}`),
  })
  project.provide('postgresUrl', server.url)
  // Workers do not inherit what vitest provides; tests in libs, which know no harness, read this.
  process.env.TEST_POSTGRES_URL = server.url
  return async () => {
    await server.stop()
    await rm(dir, { recursive: true })
  }
}
