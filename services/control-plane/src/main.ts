import { readFileSync } from 'node:fs'
import { openBus } from '@gateway/bus/open.js'
import { createLog, type Log } from '@gateway/logging/log.js'
import { ensureAdminCredentials } from '@gateway/settings/admin-credentials.js'
import { loadSettings, type Settings } from '@gateway/settings/load.js'
import { EXIT_REFUSED, SettingsRefusal } from '@gateway/settings/refusal.js'
import { openStore } from '@gateway/store/connect.js'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { runLoops } from './background.js'
import type { ControlContext } from './context.js'
import { BACKGROUND_LOOPS } from './features.js'
import { FIRST_SCANS_MS, FirstScans } from './first-scans.js'
import type { App } from './http/app-type.js'
import { isStoreDown } from './http/store-down.js'
import { createMetrics } from './metrics.js'
import { migrateWhenReachable } from './store-wait.js'

/** Requests, loops and the wait for the bus share these; more would let one control plane crowd out the edges on a small database. */
const STORE_CONNECTIONS = 10

/** The part of the time to drain after which connections are cut. */
const CUT_OFF_AT = 0.8

const loaded = loadOrRefuse()
await start(loaded.settings, loaded.databaseUrl)

function loadOrRefuse(): { settings: Settings; databaseUrl: string } {
  try {
    const settings = loadSettings()
    if (settings.databaseUrl === null) {
      throw new SettingsRefusal(
        'DATABASE_URL is not set: the control plane needs a Postgres; `npm start` brings its own',
      )
    }
    return { settings, databaseUrl: settings.databaseUrl }
  } catch (error) {
    if (!(error instanceof SettingsRefusal)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(EXIT_REFUSED)
  }
}

async function start(configured: Settings, databaseUrl: string): Promise<void> {
  const log = createLog('control-plane', configured.logLevel)
  const settings = withCredentials(configured, log)
  const stop = new AbortController()
  const ending: (() => Promise<unknown>)[] = []
  endWithParentAndSignals(log, settings, async () => {
    stop.abort()
    // What fails to end must not keep the rest from ending.
    for (const end of ending.reverse()) await end().catch((error) => log.warn({ err: error }, 'could not end in order'))
  })
  try {
    await serve(settings, databaseUrl, log, stop.signal, ending)
  } catch (error) {
    // What was cut short by the shutdown is no failure.
    if (!stop.signal.aborted) throw error
  }
}

/** Runs until `shutdown`. What must be ended then is put into `ending` as it comes to be, to be ended in the opposite order. */
async function serve(
  settings: Settings,
  databaseUrl: string,
  log: Log,
  shutdown: AbortSignal,
  ending: (() => Promise<unknown>)[],
): Promise<void> {
  const sql = openStore(databaseUrl, { applicationName: 'gateway-control-plane', maxConnections: STORE_CONNECTIONS })
  ending.push(() => sql.end({ timeout: 2 }))
  await migrateWhenReachable(sql, log, shutdown)
  const bus = await openBus(sql, settings.redisUrl, (message) => log.warn({ err: message }, 'the bus is out of reach'))
  ending.push(() => bus.close())

  const ctx: ControlContext = {
    settings,
    sql,
    bus,
    log,
    metrics: createMetrics(),
    now: Date.now,
    version: ownVersion(),
    shutdown,
    firstScans: new FirstScans(),
  }
  setTimeout(() => ctx.firstScans.end(), FIRST_SCANS_MS).unref()
  const app = await buildApp(ctx)
  ending.push(() => closeInTime(app, settings.drainSeconds))
  const host = settings.controlHost.replace(/^\[|\]$/g, '')
  await app.listen({
    host: host === '*' ? '::' : host,
    port: settings.controlPort,
    listenTextResolver: (address) => `the control plane listens at ${address}; its bus is ${bus.medium}`,
  })
  const loops = runLoops(BACKGROUND_LOOPS, ctx)
  ending.push(() => loops)
  await loops
}

/** Lets requests under way finish; who is still at it shortly before the process must end is cut off, so that the rest ends in order. */
async function closeInTime(app: App, drainSeconds: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), drainSeconds * 1000 * CUT_OFF_AT)
  await app.close()
  clearTimeout(cut)
}

/** Says where fresh credentials are, never what they are. */
function withCredentials(settings: Settings, log: Log): Settings {
  const { settings: complete, outcome } = ensureAdminCredentials(settings)
  if (outcome.state === 'written') log.info({ path: outcome.path }, 'wrote new admin credentials into the env file')
  if (outcome.state === 'unwritable') {
    log.warn(
      { path: outcome.path, err: outcome.reason },
      'neither ADMIN_PASSWORD nor ADMIN_TOKEN is set and CONFIG_FILE cannot be written: admin routes answer 401',
    )
  }
  return complete
}

/** A launcher that dies takes its control plane with it: the IPC channel to it closes then, whatever killed it. */
function endWithParentAndSignals(log: Log, settings: Settings, end: () => Promise<void>): void {
  const options = { delay: settings.drainSeconds * 1000, logger: false as const, skip: ['unhandledRejection' as const] }
  const grace = closeWithGrace(options, async ({ err }) => {
    if (err) log.fatal({ err }, 'the control plane stops because of an error')
    await end()
  })
  process.on('unhandledRejection', (error) => {
    // The Postgres client rejects promises of its own, which nobody holds, when a server goes away. That is no mistake of this program,
    // and whatever waits for an answer is told so by its own promise.
    if (isStoreDown(error)) return log.warn({ err: error }, 'a connection to the store was lost')
    // Anything else is thrown where close-with-grace hears of it, as Node does by itself.
    throw error
  })
  process.once('disconnect', () => grace.close())
}

function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
