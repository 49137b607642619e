/**
 * Debian packages with all that they need, as a repository in a folder: for machines of the same release of Debian without a network. Packages that are
 * installed on this machine count as missing, so that a minimal system at the destination gets everything.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The store, the bus, a proxy, what slices and converts, and what the installation's commands call. */
export const DEBIAN_PACKAGES = [
  'postgresql',
  'redis-server',
  'nginx',
  'gdal-bin',
  'ca-certificates',
  'curl',
  'openssl',
  'procps',
]

/** Downloads `names` and their dependencies into `folder`, with an index; answers what it holds: `{name, version, architecture, sha256}`. */
export function downloadPackages(names, folder) {
  mkdirSync(join(folder, 'partial'), { recursive: true })
  const status = join(folder, 'status')
  closeSync(openSync(status, 'w'))
  run('apt-get', [
    '-qq',
    '--yes',
    '--no-install-recommends',
    '--download-only',
    ...['-o', `Dir::State::status=${status}`, '-o', `Dir::Cache::archives=${folder}`],
    // Into a folder of anybody's: apt's own user may not write there.
    ...['-o', 'APT::Sandbox::User=root'],
    'install',
    ...names,
  ])
  for (const name of ['partial', 'lock', 'status']) rmSync(join(folder, name), { recursive: true, force: true })
  const packages = readdirSync(folder)
    .filter((file) => file.endsWith('.deb'))
    .sort()
    .map((file) => describe(folder, file))
  writeFileSync(join(folder, 'Packages'), packages.map(({ entry }) => entry).join('\n'))
  return packages.map(({ entry: _, ...facts }) => facts)
}

/** The entry of a package in the index of a repository (deb(5), apt's "Packages"). */
function describe(folder, from) {
  // apt writes the colon of an epoch as %3a, and would read it back as a colon.
  const file = from.replaceAll('%3a', '_')
  if (file !== from) renameSync(join(folder, from), join(folder, file))
  const control = run('dpkg-deb', ['--field', join(folder, file)])
  const content = readFileSync(join(folder, file))
  const sha256 = createHash('sha256').update(content).digest('hex')
  const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1] ?? ''
  return {
    name: field('Package'),
    version: field('Version'),
    architecture: field('Architecture'),
    sha256,
    entry: `${control.trimEnd()}\nFilename: ./${file}\nSize: ${content.length}\nSHA256: ${sha256}\n`,
  }
}

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
  })
  if (status !== 0) throw new Error(`${command} ${args.at(-1)}: ${stderr.trim()}`)
  return stdout
}
