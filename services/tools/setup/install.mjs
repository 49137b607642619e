/** Whether node_modules holds what package-lock.json names, and the npm commands that install it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './run-tool.mjs'

/**
 * npm writes node_modules/.package-lock.json last, so an installation that was interrupted counts as absent.
 * @param {string} root of the checkout
 */
export function packagesAreInstalled(root) {
  const wanted = lockedPackages(join(root, 'package-lock.json'))
  const installed = lockedPackages(join(root, 'node_modules/.package-lock.json'))
  if (installed === null) return false
  return Object.entries(wanted ?? {}).every(([path, entry]) => {
    // An optional package is for another platform when it is absent; the hidden lock lists no workspace itself.
    if (!path.startsWith('node_modules/') || entry.optional) return true
    const found = installed[path]
    return found !== undefined && (entry.link ? found.link === true : found.version === entry.version)
  })
}

/**
 * Installs exactly what is locked, development packages included whatever NODE_ENV says. The packages' own install scripts stay off: none
 * needs one (services/tools/src/embedded-postgres makes its library links itself), and none can then run code here.
 * @param {string} root of the checkout
 */
export async function installPackages(root) {
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  const installed = await runTool('npm', ['ci', '--include=dev', '--ignore-scripts', ...quiet], root)
  return installed.ok ? runTool('npm', ['run', 'postinstall', '--if-present', '--silent'], root) : installed
}

/**
 * Why the registry cannot be reached, as npm says it in one word; null where it answers, whatever it answers. Without a network `npm ci` itself says
 * nothing for more than ten minutes.
 * @param {string} root of the checkout
 */
export async function registryTrouble(root) {
  const asked = await runTool('npm', ['ping', '--fetch-retries=0', '--loglevel=error'], root)
  return asked.ok
    ? null
    : (/\b(EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\b/.exec(asked.output)?.[1] ?? null)
}

function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? null
  } catch {
    return null
  }
}
