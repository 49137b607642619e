/**
 * Builds everything except the TypeScript, each part once for each change of its sources: the console's bundle, the documentation and the native
 * addon.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTool } from './run-tool.mjs'

/** Scheduling priority of bundlers, below that of a gateway that already serves. */
const NICENESS = 10

/** The code of other workspaces in the console's bundle: texts, and the checks of styles. */
const LIBRARIES = [
  '../../libs/contracts/src/message-template.ts',
  '../../libs/contracts/src/input/nearest.ts',
  '../../libs/core/src/files/outside-json.ts',
  '../../libs/styles/src',
]

/**
 * The file `stamp` holds the digest of the sources of the last build. Its folder is removed when a new build is needed: each bundle replaces the
 * last one, and an addon may compile after packages were installed again.
 */
const CONSOLE = {
  folder: 'services/console',
  sources: ['src', 'public', 'index.html', 'package.json', 'icons-plugin.mjs', ...LIBRARIES, 'vite.config.ts'],
  stamp: 'services/console/dist/.built-from',
}
const DOCS = {
  folder: 'services/tools/docs',
  // Files that pages link to and readers use. Pages also link to other files, but a change of those does not cause a build.
  sources: [
    '.vitepress',
    'linked-files.mjs',
    '../../../docs',
    '../../../deploy',
    '../../../SECURITY.md',
    '../package.json',
  ],
  stamp: 'services/tools/docs/dist/.built-from',
}
const ADDON = {
  folder: 'libs/native-edge',
  sources: ['native', 'binding.gyp', 'install.mjs', 'sources.cjs'],
  stamp: 'node_modules/.native-edge-attempted',
}

/**
 * Bundles the console if its sources have changed.
 * @param {string} root of the checkout
 * @param {() => void} onBuild called before it is built
 * @returns {Promise<{ok: boolean, output?: string, signal?: NodeJS.Signals}>}
 */
export function buildConsole(root, onBuild) {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  return bundle(root, CONSOLE, [vite, 'build', '--logLevel=warn', '--emptyOutDir'], onBuild)
}

/**
 * Builds the documentation if its pages have changed, like `buildConsole`.
 * @param {string} root of the checkout
 * @param {() => void} onBuild called before it is built
 */
export function buildDocs(root, onBuild) {
  return bundle(root, DOCS, [join(root, 'node_modules/vitepress/bin/vitepress.js'), 'build'], onBuild)
}

/**
 * Builds into `dist.new`, which replaces `dist` when it is complete: the control plane serves a folder as soon as it exists, and holds requests
 * for a site as long as `dist.new` shows that its build is running.
 * @returns {Promise<{ok: boolean, output?: string, signal?: NodeJS.Signals}>}
 */
async function bundle(root, part, command, onBuild) {
  const digest = digestOf(root, part)
  if (!isDue(root, part, digest)) return { ok: true }
  onBuild()
  const dist = dirname(join(root, part.stamp))
  const running = `${dist}.new`
  mkdirSync(running, { recursive: true })
  try {
    const result = await runTool(process.execPath, [...command, '--outDir', running], join(root, part.folder), NICENESS)
    if (result.ok) {
      writeFileSync(join(running, basename(part.stamp)), digest)
      rmSync(dist, { recursive: true, force: true })
      renameSync(running, dist)
    }
    return result
  } finally {
    rmSync(running, { recursive: true, force: true })
  }
}

/**
 * Compiles the addon if its sources or Node have changed. A failed attempt counts, so that it is not made at every start; an interrupted one does not.
 * A machine without a compiler runs without the addon, which the end of the start says, until it has one. `note` says why the addon is missing otherwise.
 * @param {string} root of the checkout
 * @param {Promise<unknown>} installed resolves when node_modules, which the note of the attempt is in, will not be replaced any more
 * @returns {Promise<{ok: boolean, output?: string, signal?: NodeJS.Signals, note?: string}>}
 */
export async function buildAddon(root, installed = Promise.resolve()) {
  const digest = digestOf(root, ADDON)
  const without = `${digest} ${WITHOUT_COMPILER}`
  if (!isDue(root, ADDON, digest) || (!hasCompiler() && !isDue(root, ADDON, without))) return { ok: true }
  if (!hasCompiler()) {
    await installed
    mkdirSync(join(root, 'node_modules'), { recursive: true })
    writeFileSync(join(root, ADDON.stamp), without)
    return { ok: true }
  }
  const result = await runTool('npm', ['run', 'install', '--workspace=@gateway/native-edge', '--silent'], root)
  if (result.signal) return result
  await installed
  writeFileSync(join(root, ADDON.stamp), digest)
  return { ok: true, note: result.output }
}

/** In the note of an attempt on a machine without a compiler. */
const WITHOUT_COMPILER = 'without a compiler'

/** Programs that compile the addon. */
const COMPILER = ['g++', 'make', 'python3']

function hasCompiler() {
  // biome-ignore lint/style/noProcessEnv: the settings are not compiled yet
  const folders = (process.env.PATH ?? '').split(delimiter)
  return COMPILER.every((program) => folders.some((folder) => existsSync(join(folder, program))))
}

/** @param {string} root of the checkout @returns {boolean} true if the console has been built, from any sources */
export function consoleExists(root) {
  return existsSync(join(root, CONSOLE.stamp))
}

/** A checkout without the sources, as in tests, has nothing to build. */
function isDue(root, { stamp }, digest) {
  if (digest === null) return false
  const path = join(root, stamp)
  return !existsSync(path) || readFileSync(path, 'utf8') !== digest
}

function digestOf(root, { folder, sources }) {
  const top = join(root, folder)
  if (!existsSync(join(top, sources.at(-1)))) return null
  const files = sources.flatMap((name) => {
    if (!statSync(join(top, name)).isDirectory()) return name
    const inside = readdirSync(join(top, name), { recursive: true }).map((path) => join(name, path))
    return inside.filter((path) => statSync(join(top, path)).isFile())
  })
  const hash = createHash('sha256').update(`${process.version} ${process.arch}\n`)
  for (const file of files.sort()) hash.update(`${file}\n`).update(readFileSync(join(top, file)))
  return hash.digest('hex')
}

// `npm run build` of the console, or with `docs` of the documentation, so that the next start need not build it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const build = process.argv[2] === 'docs' ? buildDocs : buildConsole
  const result = await build(fileURLToPath(new URL('../../..', import.meta.url)), () => {})
  if (!result.ok) {
    console.error(result.output)
    process.exitCode = 1
  }
}
