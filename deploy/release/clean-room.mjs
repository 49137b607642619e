/**
 * `node deploy/release/clean-room.mjs [--root DIR] COMMAND`: runs a command in a clone of this checkout's HEAD on a minimal Debian that has Node and nothing else, as
 * root. The packages of npm and Debian come from the registries of this machine, whose network and ports the room shares. DIR keeps the Debian for the next time.
 * Needs root and mmdebstrap (apt-get install mmdebstrap).
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const CHECKOUT = resolve(import.meta.dirname, '../..')
/** Packages without which Node does not run or a repository cannot be cloned. */
const PACKAGES = ['ca-certificates', 'git', 'libatomic1', 'libstdc++6']
/** Files that name registries and their certificates. */
const SETTINGS = ['/etc/apt', '/etc/ssl/certs', '/usr/share/keyrings', '/etc/hosts', '/etc/resolv.conf', '/root/.npmrc']
const ENVIRONMENT = {
  HOME: '/root',
  LANG: 'C.UTF-8',
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
}

/** Makes a minimal Debian of the release of this machine in a folder. */
export function makeDebian(root, packages = []) {
  const { VERSION_CODENAME: suite } = Object.fromEntries(
    readFileSync('/etc/os-release', 'utf8')
      .split('\n')
      .map((line) => line.replaceAll('"', '').split('=')),
  )
  const include = packages.length > 0 ? [`--include=${packages.join(',')}`] : []
  run('mmdebstrap', ['--quiet', '--variant=minbase', ...include, suite, root])
}

/** Runs a command of the shell in the room, with its output on this terminal. Throws if it fails. */
export function inCleanRoom(command, keep) {
  const work = mkdtempSync(join(tmpdir(), 'gateway-room-'))
  const base = resolve(keep ?? join(work, 'base'))
  const root = join(work, 'root')
  try {
    if (!existsSync(join(base, 'usr/local/bin/node'))) {
      makeDebian(base, PACKAGES)
      addNode(base)
    }
    run('cp', ['-a', '--reflink=auto', base, root])
    for (const path of SETTINGS.filter(existsSync))
      run('cp', ['-rL', '--remove-destination', path, join(root, dirname(path))])
    run('git', ['clone', '--quiet', '--no-hardlinks', CHECKOUT, join(root, 'srv/app')])
    const inside = [
      `mount --bind ${root} ${root}`,
      `mount -t proc proc ${root}/proc`,
      `mount --rbind /sys ${root}/sys`,
      `mount --rbind /dev ${root}/dev`,
      `mount -t tmpfs tmpfs ${root}/run`,
      // A command that makes namespaces needs a room that is the root of its mounts, which chroot does not make it.
      `cd ${root}`,
      'mkdir -p .outside',
      'pivot_root . .outside',
      'umount -l /.outside',
      'cd /srv/app',
      'exec bash -c "$COMMAND"',
    ]
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
    run('unshare', [...namespaces, 'sh', '-ec', inside.join('\n')], { ...ENVIRONMENT, COMMAND: command })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Copies Node and npm of this machine. */
function addNode(root) {
  const lib = join(root, 'usr/local/lib/node_modules')
  mkdirSync(lib, { recursive: true })
  cpSync(process.execPath, join(root, 'usr/local/bin/node'))
  const npm = spawnSync('npm', ['root', '--global'], { encoding: 'utf8' }).stdout.trim()
  cpSync(realpathSync(join(npm, 'npm')), join(lib, 'npm'), { recursive: true })
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name))
  const headers = join(dirname(process.execPath), '../include/node')
  if (existsSync(headers)) cpSync(headers, join(root, 'usr/local/include/node'), { recursive: true })
}

export function run(command, args, env) {
  const { status, error } = spawnSync(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? status}`)
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({ options: { root: { type: 'string' } }, allowPositionals: true })
  inCleanRoom(positionals.join(' '), values.root)
}
