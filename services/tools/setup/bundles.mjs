/**
 * Bundles the compiled processes, because one of several hundred modules takes three times as long to load. The bundles lie in a folder of
 * node_modules/.bundles, which mirrors the checkout (libs/core/src/processes/bundle-of.ts) and has the digest of all that they are made from as
 * its name. Without a bundle of the current files, the compiled files run.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runTool } from './run-tool.mjs'

const FOLDER = 'node_modules/.bundles'

/** Number of letters of a digest in the name of a folder. */
const DIGEST_LETTERS = 16

/** Scheduling priority of the bundler, below that of a gateway that already serves. */
const NICENESS = 10

/** Folder of the changes to packages, which are bundled too. */
const PATCHES = 'config/patches'

/** Folders of compiled files. */
const COMPILED = ['libs', 'services']

/** The files with which processes start; one that is not listed runs as it was compiled. */
const PROCESSES = [
  'libs/core/dist/outgoing/look-up-process.js',
  'libs/styles/dist/asset-process.js',
  'libs/tilesets/dist/maps/map-process.js',
  'libs/tilesets/dist/mbtiles/readers/process.js',
  'libs/vectors/dist/query/conversion-process.js',
  'libs/vectors/dist/query/query-process.js',
  'libs/vectors/dist/postgis/database-process.js',
  'services/control-plane/dist/catalog/changes/changes-process.js',
  'services/control-plane/dist/catalog/compare/compare-process.js',
  'services/control-plane/dist/catalog/health/check-process.js',
  'services/control-plane/dist/catalog/probe/probe-process.js',
  'services/control-plane/dist/catalog/scans/walk/walk-process.js',
  'services/control-plane/dist/catalog/styles/check-process.js',
  'services/control-plane/dist/main.js',
  'services/control-plane/dist/platform/archives/archive-process.js',
  'services/edge/dist/main.js',
  'services/edge/dist/worker.js',
  'services/renderer/dist/main.js',
  'services/tiler/dist/main.js',
  'services/tools/dist/launcher/main.js',
]

/** Packages with binaries, or that find files next to their own at run time; and large ones that are loaded only on demand. */
const UNBUNDLED =
  /^(@aws-sdk|@fastify\/swagger-ui|@opentelemetry|@photostructure|@smithy|fontnik|gdal3\.js|jsonc-parser|openid-client|pinyin-pro|pino|piscina|sharp|thread-stream|uWebSockets)/

/**
 * Makes the bundles of the compiled files if they do not exist.
 * @param {string} root of the checkout
 * @returns {Promise<string>} the folder that mirrors the checkout
 */
export async function makeBundles(root) {
  const folder = folderOf(root)
  if (existsSync(folder)) return folder
  const before = existsSync(join(root, FOLDER)) ? readdirSync(join(root, FOLDER)) : []
  mkdirSync(join(root, FOLDER), { recursive: true })
  const fresh = mkdtempSync(`${folder}.${process.pid}.`)
  try {
    await bundle(root, fresh)
    // The bundles are ES modules, and no package of the checkout is above them.
    writeFileSync(join(fresh, 'package.json'), '{ "type": "module" }')
    renameSync(fresh, folder)
  } catch (error) {
    // Another process, started at the same time, has made the same bundles first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  removeUnused(before.map((name) => join(root, FOLDER, name)))
  return folder
}

/** Removes folders of bundles, except for the newest, from which a gateway may be starting, and those from which processes run. */
function removeUnused(folders) {
  // A folder may disappear meanwhile.
  const age = (folder) => -(statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  const commands = runningCommands()
  const settled = folders.filter((folder) => !isBeingMade(folder))
  for (const folder of settled.sort((a, b) => age(a) - age(b)).slice(1)) {
    // A process imports further chunks of its bundle as long as it runs.
    if (!commands.some((command) => command.includes(`${folder}/`))) rmSync(folder, { recursive: true, force: true })
  }
}

/** True for the folder of a process that is making bundles now. A process that was killed leaves its folder behind. */
function isBeingMade(folder) {
  const [, pid] = /\.(\d+)\.\w+$/.exec(folder) ?? []
  return pid !== undefined && existsSync(`/proc/${pid}`)
}

/** Command lines of all processes of this machine that this user may see. */
function runningCommands() {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8')] : []
    } catch {
      return []
    }
  })
}

/**
 * Makes the bundles, if they do not exist, in a process of low priority.
 * @param {string} root of the checkout
 */
export async function makeBundlesAside(root) {
  const hasBundler = existsSync(join(root, 'node_modules/rolldown'))
  if (!hasBundler || existsSync(folderOf(root))) return { ok: true, output: '' }
  return runTool(process.execPath, [fileURLToPath(import.meta.url)], root, NICENESS)
}

/**
 * Returns the bundle of a compiled file, or the file itself if it has no current bundle.
 * @param {string} root of the checkout
 * @param {string} file absolute path
 */
export function bundleOrFile(root, file) {
  if (!existsSync(join(root, FOLDER))) return file
  const bundled = join(folderOf(root), relative(root, file))
  return existsSync(bundled) ? bundled : file
}

function folderOf(root) {
  return join(root, FOLDER, madeFrom(root).slice(0, DIGEST_LETTERS))
}

async function bundle(root, folder) {
  mkdirSync(folder, { recursive: true })
  const { rolldown } = await import('rolldown')
  const existing = PROCESSES.filter((file) => existsSync(join(root, file)))
  const build = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(existing.map((file) => [file.slice(0, -'.js'.length), join(root, file)])),
    logLevel: 'silent',
    plugins: [
      { name: 'nested', resolveId: (id, importer) => unbundledFile(root, id, importer) },
      { name: 'own-place', load: withSourceMap, transform: withOwnPlace },
    ],
  })
  await build.write({
    dir: folder,
    format: 'esm',
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await build.close()
}

/** Imports a package that lies below the importing library by its file: from the bundle, only those of the root are found by name. */
function unbundledFile(root, id, importer) {
  if (!UNBUNDLED.test(id)) return null
  const nested = importer === undefined ? null : fileOf(id, importer)
  return { id: nested === null || nested === fileOf(id, join(root, 'package.json')) ? id : nested, external: true }
}

function fileOf(id, importer) {
  try {
    return createRequire(importer).resolve(id)
  } catch {
    return null
  }
}

/** The compiler's source maps lead from the bundles to the sources. */
function withSourceMap(id) {
  if (!isAbsolute(id) || !existsSync(`${id}.map`)) return null
  return { code: readFileSync(id, 'utf8'), map: readFileSync(`${id}.map`, 'utf8') }
}

/** Modules find files by their own place in the checkout, which stays the same in a bundle. */
function withOwnPlace(code, id) {
  if (!isAbsolute(id) || !code.includes('import.meta.url')) return null
  return { code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)) }
}

/** A digest of all that the bundles are made from. */
function madeFrom(root) {
  const hash = createHash('sha256').update(`${process.version} ${resolve(root)}\n`)
  for (const file of [join(root, 'package-lock.json'), fileURLToPath(import.meta.url)]) hash.update(readFileSync(file))
  if (existsSync(join(root, PATCHES)))
    for (const name of readdirSync(join(root, PATCHES)).sort()) hash.update(readFileSync(join(root, PATCHES, name)))
  for (const parent of COMPILED) {
    for (const name of readdirSync(join(root, parent)).sort()) {
      const dist = join(root, parent, name, 'dist')
      if (!existsSync(dist) || name === 'console') continue
      for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }).sort()) {
        if (!file.endsWith('.js')) continue
        const { mtimeMs, size } = statSync(join(dist, file))
        hash.update(`${name}/${file} ${mtimeMs} ${size}\n`)
      }
    }
  }
  return hash.digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await makeBundles(fileURLToPath(new URL('../../..', import.meta.url)))
