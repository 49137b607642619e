import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Works as root, or as a user who may create namespaces. */
const WAYS = [
  ['unshare', '--net', '--mount'],
  ['unshare', '--map-root-user', '--net', '--mount'],
]

/**
 * In a separate network namespace all addresses lead to this machine: every dialled address responds, and no packet leaves. The program itself
 * may be the name server in resolv.conf.
 */
const SET_UP = `set -e
ip link set lo up
ip route add local 0.0.0.0/0 dev lo
ip -6 route add local ::/0 dev lo
mount --bind "$1/resolv.conf" /etc/resolv.conf
mount --bind "$1/hosts" /etc/hosts
shift
exec "$@"`

const RESOLV_CONF = 'nameserver 127.0.0.1\nsearch .\noptions timeout:5 attempts:2\n'
const HOSTS = '127.0.0.1 localhost\n::1 localhost\n10.9.9.9 receiver.hosts.test\n'

/** Timeout in ms, shorter than that of a test, so that no process is left running. */
const TIMEOUT_MS = 50_000
const MAX_OUTPUT = 64 * 1024 * 1024

/** Returns the command that starts a program in a separate network; a text: the reason why this machine does not support it. */
export function ownNetwork(): readonly string[] | string {
  const reasons: string[] = []
  for (const way of WAYS) {
    const tried = withFiles((folder) => spawnSync(way[0] as string, [...way.slice(1), ...setUp(folder), 'true']))
    if (tried.status === 0) return way
    reasons.push(`${way.join(' ')}: ${tried.error?.message ?? tried.stderr.toString().trim()}`)
  }
  return reasons.join('; ')
}

/**
 * Runs a built program of this folder in a separate network and returns its JSON output.
 * @param name of the program, without its extension
 */
export async function runInOwnNetwork<T>(way: readonly string[], name: string): Promise<T> {
  const program = fileURLToPath(new URL(`../../../dist/deliveries/testing/${name}.js`, import.meta.url))
  return withFiles(async (folder) => {
    const args = [...way.slice(1), ...setUp(folder), process.execPath, program]
    const options = { maxBuffer: MAX_OUTPUT, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const
    const { stdout } = await promisify(execFile)(way[0] as string, args, options)
    return JSON.parse(stdout) as T
  })
}

function setUp(folder: string): string[] {
  return ['sh', '-c', SET_UP, 'set-up', folder]
}

function withFiles<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(path.join(tmpdir(), 'own-network-'))
  writeFileSync(path.join(folder, 'resolv.conf'), RESOLV_CONF)
  writeFileSync(path.join(folder, 'hosts'), HOSTS)
  const clear = () => rmSync(folder, { recursive: true })
  const done = work(folder)
  if (!(done instanceof Promise)) clear()
  return done instanceof Promise ? (done.finally(clear) as T) : done
}
