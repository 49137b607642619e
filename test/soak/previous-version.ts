import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The commit of 0.1.0, which has no tag. */
const FIRST_RELEASE = '8a5e7303'

export interface PreviousVersion {
  readonly version: string
  /** its built checkout */
  readonly folder: string
}

/** Builds `commit`, or the newest tag of a release that this checkout follows, in a folder below `var/`, and returns it. A built one is used again. */
export function previousVersion(commit: string = lastRelease()): PreviousVersion {
  const id = output('git', ['rev-parse', '--verify', `${commit}^{commit}`], root)
  const folder = join(root, 'var/previous', id)
  if (!existsSync(join(folder, 'services/edge/dist/main.js'))) {
    run('git', ['clone', '--quiet', '--no-checkout', root, folder], root)
    run('git', ['checkout', '--quiet', id], folder)
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], folder)
    run('npx', ['tsc', '-b'], folder)
  }
  return { version: JSON.parse(output('git', ['show', `${id}:package.json`], root)).version, folder }
}

function lastRelease(): string {
  const current = JSON.parse(output('git', ['show', 'HEAD:package.json'], root)).version
  const tags = ['describe', '--tags', '--abbrev=0', '--match', 'v*', '--exclude', `v${current}`]
  const { status, stdout } = spawnSync('git', tags, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : FIRST_RELEASE
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed in ${cwd}`)
}

function output(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${stderr.trim()}`)
  return stdout.trim()
}
