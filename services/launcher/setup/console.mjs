/** The operators' console is an application for browsers: bundled once for each change of its sources. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './run-tool.mjs'

const CONSOLE = 'services/console'

/** Lies in what was built, so that it goes with it: a build that was interrupted counts as none. */
const STAMP = `${CONSOLE}/dist/.built-from`

/**
 * Whether the console's sources have changed since it was last built.
 * @param {string} root of the checkout
 */
export function consoleIsDue(root) {
  return existsSync(join(root, CONSOLE, 'vite.config.ts')) && readStamp(root) !== identity(root)
}

/** @param {string} root of the checkout */
export async function buildConsole(root) {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const before = identity(root)
  const result = await runTool(process.execPath, [vite, 'build', '--logLevel=warn'], join(root, CONSOLE))
  if (result.ok) writeFileSync(join(root, STAMP), before)
  return result
}

function identity(root) {
  const hash = createHash('sha256')
  const dir = join(root, CONSOLE)
  const listed = ['src', 'public'].flatMap((folder) =>
    readdirSync(join(dir, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  for (const name of ['index.html', 'package.json', 'vite.config.ts']) listed.push(join(dir, name))
  for (const file of listed.sort()) hash.update(`${file.slice(dir.length)}\n`).update(readFileSync(file))
  return hash.digest('hex')
}

function readStamp(root) {
  try {
    return readFileSync(join(root, STAMP), 'utf8')
  } catch {
    return null
  }
}
