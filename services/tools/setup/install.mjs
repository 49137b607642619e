/** Checks if node_modules has the packages of package-lock.json, and installs them with npm. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './run-tool.mjs'

/** Folders of the workspaces that serving needs. The programs for tests, lint and benchmarks are packages of the other workspaces. */
const SERVING = ['libs', 'services']

/** Projects that the compiler builds, with the projects that they refer to, if only the packages for serving are installed. */
export const SERVICES = ['edge', 'control-plane', 'tiler', 'renderer', 'tools'].map((name) => `services/${name}`)

/** Digest of the lock file from which the packages for serving were installed. `npm ci` removes it with its folder. */
const STAMP = 'node_modules/.installed-for-serving'

/**
 * npm writes node_modules/.package-lock.json last, so an interrupted installation counts as absent.
 * @param {string} root of the checkout
 * @param {boolean} everything false if the packages for serving are enough
 */
export function packagesAreInstalled(root, everything) {
  const wanted = lockedPackages(join(root, 'package-lock.json'))
  const installed = lockedPackages(join(root, 'node_modules/.package-lock.json'))
  if (installed === null) return false
  if (!everything && isStamped(root)) return true
  return Object.entries(wanted ?? {}).every(([path, entry]) => {
    // An absent optional package is for another platform. The hidden lock lists no workspace itself.
    if (!path.startsWith('node_modules/') || entry.optional) return true
    const found = installed[path]
    return found !== undefined && (entry.link ? found.link === true : found.version === entry.version)
  })
}

/**
 * Installs exactly the locked packages, with development packages regardless of NODE_ENV. If those for serving are installed, it only adds the
 * others, since a gateway may be running from them. Install scripts of packages stay off: they are not needed (services/tools/src/embedded-postgres
 * makes its library links itself), and cannot run code here.
 * @param {string} root of the checkout
 * @param {boolean} everything false if the packages for serving are enough
 */
export async function installPackages(root, everything) {
  const flags = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  const parts = ['--include-workspace-root', ...SERVING.flatMap((folder) => ['--workspace', folder])]
  const isAdding = isStamped(root)
  const command = isAdding ? ['install', '--no-save', ...flags] : ['ci', ...flags, ...(everything ? [] : parts)]
  const installed = await runTool('npm', command, root)
  if (!installed.ok) return installed
  if (isAdding) rmSync(join(root, STAMP))
  else if (!everything) writeFileSync(join(root, STAMP), lockDigest(root))
  return runTool('npm', ['run', 'postinstall', '--if-present', '--silent'], root)
}

function isStamped(root) {
  const stamp = join(root, STAMP)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === lockDigest(root)
}

function lockDigest(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/**
 * Returns npm's code for an unreachable registry, or null if the registry responds, with any response. Without a network, `npm ci` itself prints
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
