import { spawnSync } from 'node:child_process'
import { dieWithParent } from '@gateway/core/processes/die-with-parent.js'
import { StartRefusal } from '@gateway/core/settings/refusal.js'

/** The way to run a Postgres program on this machine: the words before its command line, and the required owner of its files. */
export interface RunAs {
  readonly prefix: readonly string[]
  readonly owner: { readonly uid: number; readonly gid: number }
}

/** `nobody`: Postgres refuses root, and needs a user of the passwd file. */
const NOBODY = 65_534

/**
 * Chooses the user of Postgres: that of this process, except for root, which Postgres refuses. Root's Postgres runs as `nobody`. If that user
 * cannot reach the binaries or the data (such as a checkout in a folder of mode 0700), it runs as root in a user namespace
 * in which it is called `nobody`, with access to root's files but without root's powers.
 * @param mustReach existing files and folders that the user must be able to read
 */
export function chooseRunAs(mustReach: readonly string[]): RunAs {
  const uid = process.getuid?.() ?? 0
  const gid = process.getgid?.() ?? 0
  if (uid !== 0 || process.platform === 'win32') return { prefix: dieWithParent('INT'), owner: { uid, gid } }
  const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  if (works([...asNobody, 'ls', '-d', ...mustReach])) {
    return { prefix: [...asNobody, '--pdeathsig', 'INT'], owner: { uid: NOBODY, gid: NOBODY } }
  }
  const namespace = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`]
  if (works([...namespace, 'ls', '-d', ...mustReach])) {
    return { prefix: [...namespace, ...dieWithParent('INT')], owner: { uid, gid } }
  }
  throw new StartRefusal(
    `the embedded Postgres cannot run as root, and user ${NOBODY} cannot reach ${mustReach.join(' and ')}: start as another user, or set DATABASE_URL`,
  )
}

function works(command: readonly string[]): boolean {
  return spawnSync(command[0] as string, command.slice(1), { stdio: 'ignore' }).status === 0
}
