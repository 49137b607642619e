/**
 * Copies only the files that the given workspaces need at run time out of an installed and compiled checkout:
 *
 *     node deploy/images/assemble.mjs OUT services/edge [...] [--without PACKAGE ...]
 *
 * The layout stays (`node_modules`, `libs`, `services`), so that relative paths still work. `--without` also leaves out packages that only the
 * named package needs. Native binaries that the current Node cannot load are for other platforms, and are removed; with `--any-node` they stay,
 * since after an installation they are for other versions of Node on this platform.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** Files of packages for compilers, editors and readers. Licences stay. */
const UNUSED_FILE = /\.(?:d\.[cm]?ts|ts|map|md|markdown|flow|c|cc|cpp|h|hpp|gyp|gypi|bare|tsbuildinfo)$/
const UNUSED_DIRECTORY = /^(?:tests?|__tests__|benchmarks?|examples?)$/
/** Modules of packages for bundlers, which the AWS SDK and OpenTelemetry ship in addition to those for Node. */
const FOR_BUNDLERS = /^(?:dist-es|build\/(?:esm|esnext))$/
const LICENCE = /licen[cs]e|notice|copying/i

/** Entries in the top folder of workspaces that only developers need, including sources. */
const DEVELOPERS = /^(?:src|native|fuzz|setup|node_modules|docs\/\.vitepress)$/
/** Tests of workspaces and their helpers, in any folder. */
const TESTS = /^testing$|\.test\./

/**
 * The installed packages that `workspaces` need at run time, as paths relative to the root; links to workspaces are followed.
 * @param {Record<string, Record<string, any>>} packages of a package-lock.json
 * @param {readonly string[]} workspaces
 * @param {ReadonlySet<string>} without names of packages to leave out
 * @returns {Set<string>}
 */
export function neededPackages(packages, workspaces, without = new Set()) {
  const needed = new Set()
  const visit = (path) => {
    if (needed.has(path)) return
    const entry = packages[path]
    if (entry === undefined) throw new Error(`${path} is not in package-lock.json`)
    needed.add(path)
    if (entry.link) return visit(entry.resolved)
    const optional = { ...entry.optionalDependencies, ...entry.peerDependencies }
    for (const name of Object.keys({ ...entry.dependencies, ...optional })) {
      if (without.has(name)) continue
      const found = installedFor(packages, path, name)
      if (found !== null) visit(found)
      else if (!(name in optional)) throw new Error(`${name}, which ${path} needs, is not installed`)
    }
  }
  for (const workspace of workspaces) visit(workspace)
  return needed
}

/** Resolves a package as Node does: in the node_modules of the folder, then of each folder above. */
function installedFor(packages, path, name) {
  for (let at = path; ; at = dirname(at)) {
    const candidate = join(at === '.' ? '' : at, 'node_modules', name)
    if (packages[candidate] !== undefined) return candidate
    if (at === '.' || at === '') return null
  }
}

export function assemble(root, out, workspaces, { without = new Set(), anyNode = false } = {}) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  mkdirSync(out, { recursive: true })
  for (const path of neededPackages(packages, workspaces, without)) {
    // Packages for other platforms are in the lock file but not on the disk.
    if (!existsSync(join(root, path))) continue
    mkdirSync(dirname(join(out, path)), { recursive: true })
    if (packages[path].link) symlinkSync(relative(dirname(path), packages[path].resolved), join(out, path))
    else copy(join(root, path), join(out, path), path)
  }
  cpSync(join(root, 'package.json'), join(out, 'package.json'))
  if (anyNode) return
  for (const file of nativeBinaries(join(out, 'node_modules'))) if (!loads(file)) rmSync(file)
}

function copy(from, to, path) {
  // Verbatim: otherwise Node would make links inside a package point at the source of the copy.
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: filterFor(from, path) })
}

function filterFor(from, path) {
  const isPackage = path.startsWith('node_modules/')
  return (source) => {
    const inside = relative(from, source)
    if (inside === '') return true
    const name = basename(source)
    if (name === 'node_modules') return false
    if (!isPackage) return isRunTimeFile(inside, name)
    if (FOR_BUNDLERS.test(inside)) return false
    if (LICENCE.test(name)) return true
    return !UNUSED_FILE.test(name) && !(UNUSED_DIRECTORY.test(name) && !inside.includes('/'))
  }
}

function isRunTimeFile(inside, name) {
  // The documentation contains copies of sources and tests, which its pages link to.
  if (inside.startsWith('docs/dist/files/')) return true
  if (DEVELOPERS.test(inside) || TESTS.test(name)) return false
  // node-gyp leaves objects and makefiles next to the addon.
  if (inside.startsWith('build/')) return inside === 'build/Release' || /^build\/Release\/[^/]+\.node$/.test(inside)
  return !UNUSED_FILE.test(name)
}

function nativeBinaries(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.node'))
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Runs in a separate process, because a binary for another Node may crash the process that loads it. */
function loads(file) {
  const code = `process.dlopen({ exports: {} }, ${JSON.stringify(file)})`
  return spawnSync(process.execPath, ['-e', code], { stdio: 'ignore' }).status === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      without: { type: 'string', multiple: true, default: [] },
      'any-node': { type: 'boolean', default: false },
    },
  })
  const [out, ...workspaces] = positionals
  if (out === undefined || workspaces.length === 0) {
    process.stderr.write('Usage: node deploy/images/assemble.mjs OUT WORKSPACE ... [--without PACKAGE ...]\n')
    process.exit(2)
  }
  assemble(resolve(import.meta.dirname, '../..'), resolve(out), workspaces, {
    without: new Set(values.without),
    anyNode: values['any-node'],
  })
}
