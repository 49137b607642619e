/** Whether node_modules holds what package-lock.json asks for, and the one npm command that mends it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './run-tool.mjs'

/**
 * What is missing of the locked packages. npm writes node_modules/.package-lock.json last, so an installation that was
 * interrupted counts as absent.
 * @param {string} root of the checkout
 * @returns {'nothing' | 'development' | 'everything'}
 */
export function missingPackages(root) {
  const wanted = lockedPackages(join(root, 'package-lock.json'))
  const installed = lockedPackages(join(root, 'node_modules/.package-lock.json'))
  if (installed === null) return 'everything'
  if (wanted === null) return 'nothing'
  let missing = 'nothing'
  for (const [path, entry] of Object.entries(wanted)) {
    // An optional package is for another platform when it is absent; the hidden lock lists no workspace itself.
    if (!path.startsWith('node_modules/') || entry.optional) continue
    if (isSame(installed[path], entry)) continue
    if (!entry.dev || installed[path]) return 'everything'
    missing = 'development'
  }
  return missing
}

/**
 * Installs exactly what is locked, development packages included whatever NODE_ENV says. Install scripts stay off: no package
 * needs one (the launcher makes the library links of the embedded Postgres itself), and none can then run code here.
 * @param {string} root of the checkout
 */
export async function installPackages(root) {
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  const installed = await runTool('npm', ['ci', '--include=dev', '--ignore-scripts', ...quiet], root)
  return installed.ok ? mendPackages(root) : installed
}

/** Applies config/patches: mistakes in packages that no release mends yet. npm's postinstall does the same where scripts are on. */
function mendPackages(root) {
  if (!existsSync(join(root, 'config/patches'))) return { ok: true }
  const tool = join(root, 'node_modules/patch-package/index.js')
  return runTool(process.execPath, [tool, '--patch-dir', 'config/patches', '--error-on-fail'], root)
}

function isSame(installed, wanted) {
  if (!installed) return false
  return wanted.link ? installed.link === true : installed.version === wanted.version
}

function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? null
  } catch {
    return null
  }
}
