import { join, relative } from 'node:path'
import { createLog, type Log } from '@gateway/core/logging/log.js'
import { type CredentialsOutcome, ensureAdminCredentials } from '@gateway/core/settings/admin-credentials.js'
import { controlPlaneUrl, edgeUrl, loadSettings, type Settings } from '@gateway/core/settings/load.js'
import { makeDirectory } from '@gateway/core/settings/make-directory.js'
import { EXIT_REFUSED, refuseArguments, SettingsRefusal, StartRefusal } from '@gateway/core/settings/refusal.js'
import { readTlsPair } from '@gateway/core/settings/tls-pair.js'
import { tryLock } from '../../setup/lock.mjs'
import { startEmbeddedPostgres } from '../embedded-postgres/server.js'
import { missingParts } from '../machine/missing-parts.js'
import { adminAuthorization, adminClient } from './admin-client.js'
import { banner, credentialWords, type DemoAddresses, type NoDemo } from './banner.js'
import { prepareDemo } from './demo/demo.js'
import { pathTrouble } from './path-trouble.js'
import { portsAreFree } from './ports.js'
import { startServices } from './services.js'
import { Shutdown, sayLine } from './shutdown.js'

const { settings, outcome } = settingsOrExit()
const log = createLog('launcher', settings.logLevel)
const shutdown = new Shutdown(log)

start().catch((error: unknown) => {
  if (shutdown.begun) return
  if (error instanceof StartRefusal) return shutdown.run(EXIT_REFUSED, error.message)
  const isOurs = (error as NodeJS.ErrnoException).path?.startsWith(settings.dataDir)
  const trouble = isOurs ? pathTrouble(error, 'DATA_DIR') : null
  if (trouble !== null) return shutdown.run(EXIT_REFUSED, trouble)
  log.fatal({ err: error }, 'the start failed')
  return shutdown.run(1, `the start failed: ${(error as Error).message}; the log has the details`)
})

async function start(): Promise<void> {
  holdDataDir(settings.dataDir)
  await portsAreFree(settings)
  const databaseUrl = settings.databaseUrl ?? (await ownPostgres(settings, log))
  if (shutdown.begun) return
  const services = startServices(settings, databaseUrl, log, shutdown)
  // The demo needs only the control plane.
  const demoReady = services.controlPlane.then(() => (settings.demo && !shutdown.begun ? demoAddresses() : null))
  const [demo] = await Promise.all([demoReady, services.edge])
  if (shutdown.begun) return
  // For people, so on standard error: standard output stays JSON that can be piped, and a log file gets no demo token.
  process.stderr.write(
    banner({
      consoleUrl: `${settings.apiBaseUrl}/admin/sign-in`,
      docsUrl: `${settings.apiBaseUrl}/docs/`,
      credentials: credentialWords(settings, outcome, shortPath(settings.configFile)),
      demo,
      missing: missingParts(),
    }),
  )
}

function settingsOrExit(): { settings: Settings; outcome: CredentialsOutcome } {
  try {
    refuseArguments()
    const loaded = loadSettings()
    // Checked here, because the edge would refuse it only after everything else runs.
    readTlsPair(loaded)
    return ensureAdminCredentials(loaded)
  } catch (error) {
    if (!(error instanceof SettingsRefusal)) throw error
    sayLine(error.message)
    process.exit(EXIT_REFUSED)
  }
}

/** Allows one launcher for each data directory: two would serve one database directory, and overwrite each other's demo data. */
function holdDataDir(dataDir: string): void {
  const lock = lockIn(dataDir)
  if (!lock.ok)
    throw new StartRefusal(
      `process ${lock.pid} already runs a gateway on DATA_DIR ${dataDir}: stop it, or set another DATA_DIR, API_PORT and CONTROL_PORT`,
    )
  process.once('exit', lock.release)
}

function lockIn(dataDir: string): ReturnType<typeof tryLock> {
  try {
    makeDirectory(dataDir)
    return tryLock(join(dataDir, 'launcher.lock'))
  } catch (error) {
    const why = pathTrouble(error, 'DATA_DIR') ?? (error as Error).message
    throw new StartRefusal(`DATA_DIR ${dataDir} cannot be used: ${why}`)
  }
}

async function ownPostgres({ dataDir }: Settings, log: Log): Promise<string> {
  const postgres = await startEmbeddedPostgres({
    dir: join(dataDir, 'postgres'),
    log: (level, message) => log[level]({ from: 'postgres' }, message),
    onLost: (reason) => shutdown.run(1, `the embedded Postgres does not come back: ${reason}`),
  })
  shutdown.add(() => postgres.stop())
  return postgres.url
}

/** The gateway also runs without its demo, so an error here is only reported. */
async function demoAddresses(): Promise<DemoAddresses | NoDemo | null> {
  const authorization = adminAuthorization(settings)
  if (authorization === null) return { reason: 'not made, because neither ADMIN_PASSWORD nor ADMIN_TOKEN is set' }
  try {
    return await prepareDemo(adminClient(controlPlaneUrl(settings), authorization), {
      dataDir: settings.dataDir,
      readUrl: controlPlaneUrl(settings),
      apiUrl: edgeUrl(settings),
      tileBaseUrl: settings.tilePublicBaseUrl,
    })
  } catch (error) {
    if (!shutdown.begun) log.error({ err: error }, 'the demo data could not be prepared')
    return { reason: 'could not be prepared; the log has the reason' }
  }
}

function shortPath(file: string): string {
  const inside = relative(process.cwd(), file)
  return inside.startsWith('..') ? file : inside
}
