import { spawnSync } from 'node:child_process'

let available: boolean | undefined

/**
 * Returns the words before a command that make the kernel signal it when its parent dies, however it dies (prctl(2), PR_SET_PDEATHSIG).
 * Empty if util-linux's setpriv is missing, as outside Linux; a child then outlives a killed parent. Works for a child without an
 * environment too.
 */
export function dieWithParent(signal: 'INT' | 'TERM' | 'KILL'): readonly string[] {
  available ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore', env: {} }).status === 0
  return available ? ['setpriv', '--pdeathsig', signal] : []
}
