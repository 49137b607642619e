import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Returns the commit, marked if the checkout differs from it. */
export function revision() {
  const git = spawnSync('git', ['describe', '--always', '--abbrev=40', '--dirty', '--exclude=*'], { cwd: root })
  return git.status === 0 ? git.stdout.toString().trim() : 'unknown'
}
