/** The one native addon of this repository: compiled where a compiler is, done without where none is. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './run-tool.mjs'

/** Lies with the packages, so that a new installation tries anew. */
const ATTEMPTED = 'node_modules/.sendfile-attempted'

/**
 * Whether the addon's sources, or the Node that they are compiled for, have changed since the last attempt; a failed one counts, so that
 * a machine without a compiler does not try at every start.
 * @param {string} root of the checkout
 */
export function addonIsDue(root) {
  return existsSync(join(root, 'libs/sendfile/install.mjs')) && readAttempt(root) !== identity(root)
}

/** Compiles the addon. A failure is the package's own to tell, and stops nothing; only an interruption is passed on. */
export async function buildAddon(root) {
  const result = await runTool('npm', ['run', 'install', '--workspace=@gateway/sendfile', '--silent'], root)
  if (result.signal === undefined) writeFileSync(join(root, ATTEMPTED), identity(root))
  return result
}

function identity(root) {
  const hash = createHash('sha256').update(`${process.version} ${process.arch}\n`)
  const dir = join(root, 'libs/sendfile')
  const sources = readdirSync(join(dir, 'native')).sort()
  for (const file of ['binding.gyp', 'install.mjs', ...sources.map((name) => `native/${name}`)]) {
    hash.update(`${file}\n`).update(readFileSync(join(dir, file)))
  }
  return hash.digest('hex')
}

function readAttempt(root) {
  try {
    return readFileSync(join(root, ATTEMPTED), 'utf8')
  } catch {
    return null
  }
}
