import { spawnSync } from 'node:child_process'

let available: boolean | undefined

/**
 * The words before a command that make the kernel signal it when its parent dies, however that dies (prctl(2), PR_SET_PDEATHSIG).
 * Empty where util-linux's setpriv is missing, as outside Linux: there a child outlives a killed parent. Works for a child without an
 * environment as well.
 */
export function dieWithParent(signal: 'INT' | 'TERM' | 'KILL'): readonly string[] {
  available ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore', env: {} }).status === 0
  return available ? ['setpriv', '--pdeathsig', signal] : []
}
