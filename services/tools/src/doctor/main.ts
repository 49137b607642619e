import { parseArgs } from 'node:util'
import { loadSettings, type Settings } from '@gateway/core/settings/load.js'
import { SettingsRefusal } from '@gateway/core/settings/refusal.js'
import { checkBus } from './checks/bus.js'
import { checkFolders } from './checks/folders.js'
import { checkMachine, checkMissing } from './checks/machine.js'
import { checkPorts } from './checks/ports.js'
import { checkProxies } from './checks/proxies.js'
import { checkSettings } from './checks/settings.js'
import { checkStore } from './checks/store.js'
import { checkTiler } from './checks/tiler.js'
import { checkTls } from './checks/tls.js'
import { asLine, exitCode, type Finding, fault, ok, warn } from './finding.js'
import { findInstallation, type Installation } from './installation.js'

/**
 * Checks everything that the gateway needs on this machine, and prints one line with the result and the remedy for each. It changes nothing, except
 * for files and rows that it creates and removes to see whether they can be created. Exits with 0 if all is well, with 1 for
 * warnings, and with 2 for faults or an invalid command line.
 */
const findings = await examine()
if (wantsJson()) process.stdout.write(`${JSON.stringify({ status: exitCode(findings), findings }, null, 2)}\n`)
else for (const finding of findings) process.stdout.write(`${asLine(finding)}\n`)
process.exit(exitCode(findings))

function wantsJson(): boolean {
  try {
    return parseArgs({ options: { json: { type: 'boolean', default: false } } }).values.json
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nUsage: doctor [--json]\n`)
    process.exit(2)
  }
}

async function examine(): Promise<readonly Finding[]> {
  const installation = findInstallation()
  const machine = [...checkMachine(installation), ...checkMissing(installation)]
  let settings: Settings
  try {
    settings = loadSettings()
  } catch (error) {
    if (!(error instanceof SettingsRefusal)) throw error
    return [...machine, fault('settings', error.message, 'correct it; nothing else was checked')]
  }
  const checks: readonly [string, Promise<readonly Finding[]>][] = [
    ['settings', checkSettings(settings, installation)],
    ['proxies', checkProxies(settings)],
    ['tls', checkTls(settings)],
    ['ports', checkPorts(settings, installation)],
    ['native tier', checkNativeTier(settings, installation)],
    ['tiler', checkTiler(settings, installation)],
    ['store', storeAndFolders(settings, installation)],
    ['bus', checkBus(settings)],
  ]
  const found = await Promise.all(checks.map(([about, check]) => check.catch((error) => [unexpected(about, error)])))
  return [...machine, ...found.flat()]
}

/** Checks the store, and then the folders of its scan sources. */
async function storeAndFolders(settings: Settings, installation: Installation): Promise<readonly Finding[]> {
  const store = await checkStore(settings, installation)
  return [...store.findings, ...(await checkFolders(settings, installation, store.sources))]
}

function unexpected(about: string, error: Error): Finding {
  return fault(about, `could not be looked at (${error.message})`, 'please report this as a defect of the doctor')
}

/** Tries the server binary and the addon in the same way as an edge at its start. */
async function checkNativeTier(settings: Settings, installation: Installation): Promise<readonly Finding[]> {
  if (!installation.edge) return []
  const about = 'native tier'
  // The image of the control plane does not contain it.
  const { tryNativeTier } = await import('@gateway/native-edge/try-native-tier.js')
  const tried = await tryNativeTier(settings.nativeTier)
  if (typeof tried === 'string') return [fault(about, tried, 'install a Node and a system for which it has one')]
  if (tried.tier === 'native') return [ok(about, `works (${tried.reason})`)]
  if (settings.nativeTier === 'off') return [ok(about, 'NATIVE_TIER=off: files are copied')]
  return [
    warn(
      about,
      `not used (${tried.reason}): tiles and files cost more than they need`,
      'install g++, make and python3 and run npm run setup, or use a proven binary; NATIVE_TIER=off accepts it',
    ),
  ]
}
