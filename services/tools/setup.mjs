/**
 * Makes a checkout ready (packages installed, sources compiled) and then runs the given script, if any, in this same process:
 *
 *     node services/tools/setup.mjs [--then|--as-is <script> [arguments]]
 *
 * With `--as-is` it makes only a new checkout ready: a script that inspects a gateway must not replace the packages of a gateway that serves. Plain
 * JavaScript without dependencies, because it runs in a fresh clone. If nothing has changed, it takes a fraction of a second and needs no network.
 * Several may start at once: one works, the others wait for it. SETUP=off changes nothing.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildAddon, buildConsole, buildDocs, consoleExists } from './setup/builds.mjs'
import { bundleOrFile, makeBundlesAside } from './setup/bundles.mjs'
import { installPackages, packagesAreInstalled, registryTrouble, SERVICES } from './setup/install.mjs'
import { waitForLock } from './setup/lock.mjs'
import { runTool } from './setup/run-tool.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const compiler = join(root, 'node_modules/typescript/bin/tsc')

/** Exit code if the start cannot succeed on this machine or with this command line; the same as for refused settings. */
const EXIT_REFUSED = 2

/**
 * Time in ms within which a second interrupt is a duplicate: npm needs a millisecond or two to pass a signal on; a person needs longer to press
 * again.
 */
const DOUBLED_WITHIN_MS = 200

/** Time in ms in which a signal that this process has sent to itself ends it. */
const DIES_WITHIN_MS = 5_000

/** Time in ms after which the registry is checked. Installed or cached packages take less. */
const ASKED_AFTER_MS = 10_000

/** Lines of a failed tool's output that are shown: the cause comes first, and npm's explains all its options after it. */
const SHOWN_LINES = 12

class SetupFailed extends Error {
  constructor(message, signal) {
    super(message)
    this.signal = signal
  }
}

checkNode()
const script = scriptToRun()
/** False if the packages for serving are enough. Tests, benchmarks and `npm run setup` need all of them. */
const everything = !script?.startsWith(join(root, 'services/'))
if (process.env.SETUP !== 'off' && !runsAsDelivered(script) && !runsAsIs(script)) await makeReady().catch(end)
if (script === null) process.exit()
if (process.env.npm_lifecycle_event !== undefined) mergeDoubledInterrupts()
const program = everything ? script : bundleOrFile(root, script)
process.argv = [process.argv[0], program, ...process.argv.slice(4)]
await import(pathToFileURL(program).href)

function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [from, below] = engines.node.match(/\d+(?:\.\d+)?/g).map((version) => version.split('.').map(Number))
  const tooOld = major < from[0] || (major === from[0] && minor < (from[1] ?? 0))
  if (tooOld || major >= below[0])
    refuse(
      `Node ${engines.node} is needed; this is ${process.versions.node} (${process.execPath}). ${howToInstall(suitedNode())}`,
      EXIT_REFUSED,
    )
  checkSystemLibrary(major)
}

/** Refuses systems for which uWebSockets.js has no binary for this Node, before anything is installed. */
function checkSystemLibrary(nodeMajor) {
  if (process.platform !== 'linux' || nodeMajor < 24) return
  if (suitedNode() >= 24) return
  refuse(
    `Node ${nodeMajor} needs glibc 2.38 (Debian 13, Ubuntu 24.04); this system has ${glibc() ?? 'none'}. ${howToInstall(22)}`,
    EXIT_REFUSED,
  )
}

/** The newest version of Node that has a server binary on this system. */
function suitedNode() {
  if (process.platform !== 'linux') return 24
  const [major, minor] = (glibc() ?? '0').split('.').map(Number)
  return major > 2 || (major === 2 && minor >= 38) ? 24 : 22
}

function glibc() {
  return /** @type {any} */ (process.report.getReport()).header.glibcVersionRuntime ?? null
}

/** The command takes Node from the registry of all other packages, and leaves that of the system as it is. */
function howToInstall(major) {
  const script = process.env.npm_lifecycle_event ?? 'start'
  return `Install Node ${major}; until then, this runs with it: npx --yes --package=node@${major} -c 'npm run ${script}'`
}

function scriptToRun() {
  const [flag, script] = process.argv.slice(2)
  if (flag === undefined) return null
  if (!['--then', '--as-is'].includes(flag) || script === undefined)
    refuse('Usage: node services/tools/setup.mjs [--then|--as-is <script> [arguments]]', EXIT_REFUSED)
  return resolve(root, script)
}

/** True for a production installation: already compiled, complete without the compiler, and perhaps not writable. */
function runsAsDelivered(script) {
  const isCompiled = script?.startsWith(join(root, 'services/')) && existsSync(script)
  return isCompiled && !existsSync(compiler) && existsSync(join(root, 'node_modules/.package-lock.json'))
}

/** True if the script runs unchanged: it has been compiled once and has its packages, although its sources may have changed since. */
function runsAsIs(script) {
  return process.argv[2] === '--as-is' && existsSync(script) && existsSync(join(root, 'node_modules'))
}

/**
 * Services start before the documentation is built, and in a fresh checkout before the console is: requests for them wait. An old console might not
 * fit the new API.
 */
async function makeReady() {
  const release = await lockCheckout()
  if (release === null) return
  try {
    await installAndCompile()
    const isService = script !== null && !everything
    const hasConsole = consoleExists(root)
    const consoleBuilt = bundleConsole()
    // The tests make the bundles themselves.
    const processesBuilt = everything && script !== null ? null : consoleBuilt.then(() => makeBundlesAside(root))
    const built = Promise.all([consoleBuilt, bundleDocs(), processesBuilt])
    if (!isService) await built
    else if (hasConsole) await consoleBuilt
    void built.catch(sayFailure).finally(release)
  } catch (error) {
    release()
    throw error
  }
}

/** Returns null if the checkout is not writable (another user's, or read-only); then it runs unchanged. */
async function lockCheckout() {
  try {
    return await waitForLock(join(root, '.setup.lock'), (pid) =>
      say(`Waiting for process ${pid}, which is making this checkout ready ...`),
    )
  } catch (error) {
    if (!packagesAreInstalled(root, everything) || (script !== null && !existsSync(script)))
      refuse(
        `This checkout is not set up, and cannot be: ${error.message}. Run "npm run setup" as its owner.`,
        EXIT_REFUSED,
      )
    say(`This checkout cannot be written (${error.message}): it runs as it was compiled last.`)
    return null
  }
}

/** The addon needs no package, so that it is compiled while npm waits for the disk and the network. */
async function installAndCompile() {
  const mustInstall = !packagesAreInstalled(root, everything)
  const installed = mustInstall ? install() : Promise.resolve()
  const [addon, compiled] = await Promise.all([buildAddon(root, installed), installed.then(() => compile(mustInstall))])
  mustHaveWorked('Compiling the addon failed', addon)
  if (addon.note) say(addon.note)
  mustHaveWorked('Compiling failed (tsc -b)', compiled)
}

async function install() {
  say('Installing packages (npm), once; SETUP=off starts without ...')
  const slow = setTimeout(sayRegistryTrouble, ASKED_AFTER_MS)
  mustHaveWorked('Installing the packages failed (npm)', await installPackages(root, everything))
  clearTimeout(slow)
}

/**
 * The compiler checks types only if all packages are installed, since tests lie next to the code. Output that it wrote without a check has loose
 * declarations, so that everything is compiled again after a new installation.
 */
function compile(isNewlyInstalled) {
  if (!existsSync(join(root, 'services/tools/dist/launcher/main.js'))) say('Compiling (tsc -b), once ...')
  const isComplete = packagesAreInstalled(root, true)
  const checked = isNewlyInstalled ? ['-b', '--force'] : ['-b']
  return runTool(process.execPath, [compiler, ...(isComplete ? checked : ['-b', '--noCheck', ...SERVICES])], root)
}

async function bundleConsole() {
  const built = await buildConsole(root, () => say('Building the console (vite build) ...'))
  mustHaveWorked('Building the console failed (vite build)', built)
}

async function bundleDocs() {
  const docsBuilt = await buildDocs(root, () => say('Building the documentation (vitepress build) ...'))
  if (docsBuilt.signal) throw new SetupFailed('', docsBuilt.signal)
  // Maps are served without the documentation. The next start tries again.
  if (!docsBuilt.ok) say(`${beginning(docsBuilt.output)}\nBuilding the documentation failed; continuing without it.`)
}

/** A gateway that already serves continues without its console. It has received the signal as well. */
function sayFailure(error) {
  if (!(error instanceof SetupFailed)) throw error
  if (error.message !== '') say(error.message)
}

function mustHaveWorked(what, result) {
  if (!result.ok) throw new SetupFailed(result.signal ? '' : `${beginning(result.output)}\n${what}.`, result.signal)
}

/** npm continues to try, because a network may come back. */
async function sayRegistryTrouble() {
  const trouble = await registryTrouble(root)
  if (trouble)
    say(
      `The package registry is unreachable (${trouble}); npm goes on trying, Ctrl-C ends it. Without internet access: unpack a release, or ` +
        'copy a checkout in which "npm run setup" has run.',
    )
}

/**
 * npm passes on an interrupt that the terminal has also sent to this process. One key press must count once, because a second interrupt would cut the
 * orderly end short. Must be called before the script listens for signals, because Node then binds `emit`.
 */
function mergeDoubledInterrupts() {
  const emit = /** @type {(...args: any[]) => any} */ (process.emit)
  let last = Number.NEGATIVE_INFINITY
  process.emit = function (event, ...rest) {
    if (event === 'SIGINT') {
      if (performance.now() - last < DOUBLED_WITHIN_MS) return true
      last = performance.now()
    }
    return emit.call(this, event, ...rest)
  }
}

function beginning(output) {
  const lines = output.split('\n').filter((line) => line.replace('npm error', '').trim() !== '')
  return lines.slice(0, SHOWN_LINES).join('\n')
}

async function end(error) {
  if (!(error instanceof SetupFailed)) throw error
  // Interrupted: dies by the same signal, as it would without a running tool. On a busy machine another thread receives it a moment later.
  if (error.signal) {
    process.kill(process.pid, error.signal)
    await sleep(DIES_WITHIN_MS)
  }
  refuse(error.message, 1)
}

function say(line) {
  process.stderr.write(`${line}\n`)
}

function refuse(line, code) {
  say(line)
  process.exit(code)
}
