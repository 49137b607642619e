import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import { createLog } from '@gateway/core/logging/log.js'
import { loadSettings } from '@gateway/core/settings/load.js'
import { NO_TRACER } from '@gateway/core/tracing/tracer.js'
import type { Bus } from '@gateway/store/bus/bus.js'
import { PostgresBus } from '@gateway/store/bus/postgres-bus.js'
import { GroupCommit } from '@gateway/store/group-commit.js'
import { type FreshStore, freshStore } from '@gateway/store/testing/fresh-store.js'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { buildApp } from '../app.js'
import type { ControlContext } from '../platform/context.js'
import { publishChanges } from '../platform/edges/commit.js'
import type { App } from '../platform/http/app-type.js'
import { createMetrics } from '../platform/metrics.js'
import { Readiness } from '../platform/readiness.js'

export const ADMIN_TOKEN = 'test-admin-token'
export const ADMIN_PASSWORD = 'test-admin-password'

/** The application on a separate database; requests are injected, without a listener. */
export interface TestApp {
  readonly app: App
  readonly ctx: ControlContext
  readonly store: FreshStore
  /** sends a request as an administrator on this machine */
  admin(options: InjectOptions): Promise<LightMyRequestResponse>
  close(): Promise<void>
}

/**
 * @param serverUrl TEST_POSTGRES_URL of the test run
 * @param settings override defaults, by their names in the environment
 * @param now the clock of the application
 */
export async function startTestApp(
  serverUrl: string | undefined,
  settings: NodeJS.ProcessEnv = {},
  bus?: Bus,
  now: () => number = Date.now,
): Promise<TestApp> {
  const store = await freshStore(serverUrl)
  const stop = new AbortController()
  const ownBus = bus ?? new PostgresBus(store.sql, 300)
  const log = createLog('test', 'silent')
  const ctx: ControlContext = {
    settings: loadSettings({
      CONFIG_FILE: join(tmpdir(), `none-${randomUUID()}`),
      ADMIN_TOKEN,
      ADMIN_PASSWORD,
      DATA_DIR: tmpdir(),
      ...settings,
    }),
    sql: store.sql,
    bus: ownBus,
    together: new GroupCommit(store.sql, (changes) => void publishChanges({ bus: ownBus, log }, changes)),
    log,
    metrics: createMetrics(),
    tracer: NO_TRACER,
    now,
    version: '0.0.0',
    notice: stop.signal,
    shutdown: stop.signal,
    readiness: new Readiness(coded('first_scans')),
  }
  ctx.readiness.finish()
  const app = await buildApp(ctx)
  return {
    app,
    ctx,
    store,
    admin: (options) =>
      app.inject({
        ...options,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...options.headers },
      }),
    close: async () => {
      stop.abort()
      await app.close()
      await ctx.bus.close()
      await store.drop()
    },
  }
}
