import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BARE_ENVIRONMENT, dieWithParent } from '@gateway/core/processes/confinement.js'
import { killTree, watchWork } from '@gateway/core/processes/work-limits.js'
import { FIRST_ADDRESS } from './exchange.js'

/** The user without rights that a browser of root becomes, because the kernel gives root's browser no sandbox. */
const NOBODY = 65_534
/** The name of a profile's folder names the process that may use it. */
const PROFILES = 'gateway-renderer-'

/** Limits of one browser with all of its processes, beyond those after which it is replaced between two pictures. */
const LIMITS = {
  /** the operator's other work comes first; the longest life of a browser under constant load is far below this */
  seconds: 24 * 3600,
  processorSeconds: 24 * 3600,
  /** a picture of 4096 pixels with antialiasing needs some 700 MB for a moment */
  memoryBytes: 1.8 * 2 ** 30,
  outputBytes: 2 ** 28,
}

const ARGUMENTS = [
  '--headless',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,Translate,OptimizationHints,MediaRouter',
  '--disable-sync',
  '--disk-cache-size=1',
  '--hide-scrollbars',
  '--incognito',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-pings',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--disable-frame-rate-limit',
  '--disable-gpu-vsync',
  // Nothing is shown, and compiling the compositor's shaders took two of three seconds of the graphics process at its start.
  '--disable-gpu-compositing',
  '--window-size=64,64',
]

/** One run of Chromium, whose only network is a proxy on this machine. It ends with this process. */
export class Browser {
  readonly #process: ChildProcess
  readonly #profile: string
  readonly #stopWatching: () => void
  readonly pid: number

  /** @param onEnd called when it has ended; `wasKilled`: by somebody else, and not by itself */
  constructor(program: string, proxyPort: number, hasSandbox: boolean, onEnd: (wasKilled: boolean) => void) {
    removeLeftovers()
    this.#profile = mkdtempSync(join(tmpdir(), `${PROFILES}${process.pid}-`))
    const isRoot = process.getuid?.() === 0
    if (isRoot) chownSync(this.#profile, NOBODY, NOBODY)
    const user = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'] : []
    const [command = '', ...args] = [
      ...user,
      // After the change of the user, which clears the signal.
      ...dieWithParent('KILL'),
      program,
      ...ARGUMENTS,
      ...(hasSandbox ? [] : ['--no-sandbox']),
      `--user-data-dir=${this.#profile}`,
      `--proxy-server=http://127.0.0.1:${proxyPort}`,
      // Without it, loopback addresses would be asked directly.
      '--proxy-bypass-list=<-loopback>',
      FIRST_ADDRESS,
    ]
    const env = { ...BARE_ENVIRONMENT, LC_ALL: 'C.UTF-8', HOME: this.#profile, TMPDIR: this.#profile }
    this.#process = spawn(command, args, { env, stdio: 'ignore', cwd: this.#profile })
    this.pid = this.#process.pid ?? -1
    this.#stopWatching = watchWork(this.pid, { ...LIMITS, folder: this.#profile }, () => this.end())
    const ended = (_code?: unknown, signal?: unknown) => {
      this.#stopWatching()
      process.off('exit', ended)
      rmSync(this.#profile, { recursive: true, force: true, maxRetries: 3 })
      onEnd(signal === 'SIGKILL')
    }
    process.once('exit', ended)
    this.#process.once('exit', ended)
    this.#process.once('error', ended)
  }

  end(): void {
    killTree(this.pid)
  }
}

/** Removes the profiles of processes that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PROFILES) ? Number(name.slice(PROFILES.length).split('-')[0]) : process.pid
    if (pid === process.pid || isAlive(pid)) continue
    rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
