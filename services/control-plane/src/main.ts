import { setMaxListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { coded } from '@gateway/contracts/messages.js'
import { createLog, type Log } from '@gateway/core/logging/log.js'
import { lowerPriority, NICE } from '@gateway/core/processes/priority.js'
import { addressHosts, listenHost } from '@gateway/core/settings/address-hosts.js'
import { ensureAdminCredentials } from '@gateway/core/settings/admin-credentials.js'
import { loadSettings, type Settings, trustSeconds } from '@gateway/core/settings/load.js'
import { makePrivateDirectories } from '@gateway/core/settings/make-directory.js'
import { EXIT_REFUSED, refuseArguments, SettingsRefusal } from '@gateway/core/settings/refusal.js'
import { settingWarnings } from '@gateway/core/settings/warnings.js'
import { openTracer } from '@gateway/core/tracing/tracer.js'
import { openBus } from '@gateway/store/bus/open.js'
import { openStore } from '@gateway/store/connect.js'
import { GroupCommit } from '@gateway/store/group-commit.js'
import { StoreRefusal } from '@gateway/store/migrate.js'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { BACKGROUND_LOOPS } from './features.js'
import { runLoops } from './platform/background.js'
import type { ControlContext } from './platform/context.js'
import { publishChanges } from './platform/edges/commit.js'
import type { App } from './platform/http/app-type.js'
import { createMetrics } from './platform/metrics.js'
import { migrateWhenReachable } from './platform/process/wait-for-store.js'
import { startWatchdog } from './platform/process/watchdog.js'
import { Readiness } from './platform/readiness.js'

/** Shared by requests, loops and the wait for the bus; more connections would let one control plane crowd out the edges on a small database. */
const STORE_CONNECTIONS = 10

/** Fraction of the drain time after which connections are closed. */
const CUT_OFF_AT = 0.8

const told = new Set<string>()

lowerPriority(NICE.requests)
const loaded = loadOrRefuse()
await start(loaded.settings, loaded.databaseUrl)

function loadOrRefuse(): { settings: Settings; databaseUrl: string } {
  try {
    refuseArguments()
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

/** Directories of what this system writes, which no other program reads. */
function privateDirectories({ dataDir, vectorBuildRoot, sliceOutputRoot }: Settings): string[] {
  const names = ['imports', 'scans', 'scan-memory', 'exports', 'published', 'slice-temp', 'slice-logs']
  // The operator decides about a place outside.
  const roots = [vectorBuildRoot, sliceOutputRoot].filter((root) => root.startsWith(`${dataDir}${path.sep}`))
  return [...names.map((name) => path.join(dataDir, name)), ...roots]
}

async function start(configured: Settings, databaseUrl: string): Promise<void> {
  const log = createLog('control-plane', configured.logLevel)
  const settings = withCredentials(configured, log)
  for (const { code, finding, advice } of settingWarnings(settings)) {
    log.warn({ code }, `${finding}; ${advice}`)
    tellWhoStarts(`${finding}; ${advice}`)
  }
  makePrivateDirectories(privateDirectories(settings))
  startWatchdog()
  const notice = new AbortController()
  const stop = new AbortController()
  // Each background loop and each waiting request adds a listener; Node warns of a leak at the eleventh.
  setMaxListeners(0, stop.signal)
  const ending: (() => Promise<unknown>)[] = []
  endWithParentAndSignals(log, settings, async (noticeMs) => {
    notice.abort()
    await sleep(noticeMs)
    stop.abort()
    // A failure must not prevent the others from ending.
    for (const end of ending.reverse()) await end().catch((error) => log.warn({ err: error }, 'could not end in order'))
  })
  try {
    await serve(settings, databaseUrl, log, { notice: notice.signal, shutdown: stop.signal }, ending)
  } catch (error) {
    // An error caused by the shutdown is not a failure.
    if (stop.signal.aborted) return
    if (!(error instanceof StoreRefusal)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(EXIT_REFUSED)
  }
}

/** Runs until `shutdown`. Adds what must be ended then to `ending`, which is ended in reverse order. */
async function serve(
  settings: Settings,
  databaseUrl: string,
  log: Log,
  { notice, shutdown }: Pick<ControlContext, 'notice' | 'shutdown'>,
  ending: (() => Promise<unknown>)[],
): Promise<void> {
  const sql = openStore(databaseUrl, {
    applicationName: 'gateway-control-plane',
    maxConnections: STORE_CONNECTIONS,
  })
  ending.push(() => sql.end({ timeout: 2 }))
  await migrateWhenReachable(sql, log, shutdown, (reason) =>
    tellWhoStarts(
      `DATABASE_URL ${hostsOf(databaseUrl)}: ${reason}; waiting for it. Start that Postgres, or correct the address`,
    ),
  )
  const bus = await openBus(sql, {
    redisUrl: settings.redisUrl,
    silentSeconds: trustSeconds(settings),
    onTrouble: (message) => {
      log.warn({ err: message }, 'the bus is out of reach')
      tellWhoStarts(
        `REDIS_URL ${hostsOf(settings.redisUrl ?? '')}: the bus is out of reach (${message}); edges ask the store instead. Start that Redis, or correct the address`,
      )
    },
    onRecovered: () => log.info('the bus is within reach again'),
  })
  ending.push(() => bus.close())

  const tracer = await openTracer({
    protocol: settings.tracing,
    service: 'gateway-control-plane',
    version: ownVersion(),
    onTrouble: (error) => log.warn({ err: error }, 'traces cannot be sent'),
  })
  ending.push(() => tracer.close())
  const ctx: ControlContext = {
    settings,
    sql,
    bus,
    together: new GroupCommit(sql, (changes) => void publishChanges({ bus, log }, changes)),
    log,
    metrics: createMetrics(),
    tracer,
    // biome-ignore lint/plugin: the calendar, which operators and records use
    now: Date.now,
    version: ownVersion(),
    notice,
    shutdown,
    readiness: new Readiness(coded('first_scans')),
  }
  const app = await buildApp(ctx)
  ending.push(() => closeInTime(app, settings.drainSeconds))
  await app.listen({
    host: listenHost(settings.controlHost),
    port: settings.controlPort,
    listenTextResolver: (address) => `the control plane listens at ${address}; its bus is ${bus.medium}`,
  })
  const loops = runLoops(BACKGROUND_LOOPS, ctx)
  ending.push(() => loops)
  await loops
}

/** Writes a line for the user at the terminal of `npm start`, whose log is for programs; each line once. */
function tellWhoStarts(line: string): void {
  if (!process.connected || told.has(line)) return
  told.add(line)
  process.stderr.write(`${line}\n`)
}

/** Returns only the hosts of a URL, since it may contain a password. */
function hostsOf(address: string): string {
  return (addressHosts(address) ?? []).map(({ host, port }) => (port === null ? host : `${host}:${port}`)).join(', ')
}

/** Lets open requests finish, and closes remaining connections shortly before the process must end, so that the rest ends in order. */
async function closeInTime(app: App, drainSeconds: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), drainSeconds * 1000 * CUT_OFF_AT)
  await app.close()
  clearTimeout(cut)
}

/** Logs the file of new credentials, but never the credentials. */
function withCredentials(settings: Settings, log: Log): Settings {
  const { settings: complete, outcome } = ensureAdminCredentials(settings)
  if (outcome.state === 'written') log.info({ path: outcome.path }, 'wrote new admin credentials into the env file')
  if (outcome.state === 'unwritable') {
    log.warn(
      { path: outcome.path, err: outcome.reason },
      'neither ADMIN_PASSWORD nor ADMIN_TOKEN is set and CONFIG_FILE cannot be written: admin routes return 401',
    )
  }
  return complete
}

/**
 * SIGTERM ends the process with notice to load balancers, SIGINT without: an operator waits for the end, and a launcher has already stopped the
 * edges. The process also ends with its launcher, however that dies, because their channel closes. Only the first of these events counts: a
 * service manager may signal the launcher and, through it, this process again.
 */
function endWithParentAndSignals(log: Log, settings: Settings, end: (noticeMs: number) => Promise<void>): void {
  const noticeMs = settings.drainNoticeSeconds * 1000
  const own = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  const options = {
    delay: noticeMs + settings.drainSeconds * 1000,
    logger: false as const,
    skip: [...own],
  }
  let wantedMs: number | null = null
  const grace = closeWithGrace(options, async ({ err }) => {
    if (err) log.fatal({ err }, 'the control plane stops because of an error')
    await end(wantedMs ?? 0)
  })
  const close = (ms: number) => {
    if (wantedMs !== null) return
    wantedMs = ms
    grace.close()
  }
  for (const signal of own) process.on(signal, () => close(signal === 'SIGTERM' ? noticeMs : 0))
  process.once('disconnect', () => close(0))
}

function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
