import { spawnSync } from 'node:child_process'

/** The whole environment of helper programs: no secret, no proxy, no library path. */
export const BARE_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin', LC_ALL: 'C' }

/** Time in which a confining command must have run `true`. */
const TRIAL_MS = 5000

function works(command: readonly string[]): boolean {
  const [program = 'true', ...args] = [...command, 'true']
  return spawnSync(program, args, { env: BARE_ENVIRONMENT, stdio: 'ignore', timeout: TRIAL_MS }).status === 0
}

export interface Confinement {
  /** the part of the command line before the program's name */
  readonly prefix: readonly string[]
  /** restrictions that this machine does not permit, for the log */
  readonly missing: readonly string[]
}

export interface MoreLimits {
  /** maximum size of one file that it writes */
  readonly outputMb?: number
  readonly cpuSeconds?: number
}

/**
 * Returns the commands that confine a helper program, as far as this machine has and permits them: no network except its own loopback, a limit
 * on its memory, and death with its parent. The network restriction comes first, because entering a user namespace would clear the death signal.
 * The limit applies to data instead of address space, since WebAssembly reserves much more address space than it uses.
 */
export function confinement(memoryMb: number, { outputMb, cpuSeconds }: MoreLimits = {}): Confinement {
  const bytes = (mb: number) => String(Math.ceil(mb * 1024 * 1024))
  const limits = [
    `--data=${bytes(memoryMb)}`,
    ...(outputMb === undefined ? [] : [`--fsize=${bytes(outputMb)}`]),
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
  ]
  const measures: [string, string[][]][] = [
    [
      'a network namespace',
      [
        ['unshare', '--net'],
        ['unshare', '--map-current-user', '--net'],
      ],
    ],
    ['a memory limit', [['prlimit', ...limits]]],
    ['an end with the parent', [['setpriv', '--pdeathsig', 'KILL']]],
  ]
  const prefix: string[] = []
  const missing: string[] = []
  for (const [name, ways] of measures) {
    const way = process.platform === 'linux' ? ways.find((command) => works([...prefix, ...command])) : undefined
    if (way) prefix.push(...way)
    else missing.push(name)
  }
  return { prefix, missing }
}

let available: boolean | undefined

/**
 * Returns the words before a command that make the kernel signal it when its parent dies, however it dies (prctl(2), PR_SET_PDEATHSIG).
 * Empty if util-linux's setpriv is missing, as outside Linux; a child then outlives a killed parent. Works for a child without an
 * environment too.
 */
export function dieWithParent(signal: 'INT' | 'TERM' | 'KILL'): readonly string[] {
  available ??= works(['setpriv', '--pdeathsig', 'KILL'])
  return available ? ['setpriv', '--pdeathsig', signal] : []
}

let limitsMemory: boolean | undefined

/**
 * Returns the words before a command that limit the memory of its process and write no core file. Empty if util-linux's prlimit is missing; then
 * only the heap of a Node process is limited.
 */
export function memoryLimit(memoryMb: number): readonly string[] {
  const words = ['prlimit', `--data=${Math.ceil(memoryMb * 1024 * 1024)}`, '--core=0']
  limitsMemory ??= works(words)
  return limitsMemory ? words : []
}
