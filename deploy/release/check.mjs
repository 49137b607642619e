/**
 * `npm run release:check -- KIT.tar [--root DIR]`: installs an offline kit by the commands of the kit's README on a minimal Debian without a network, and looks at the
 * first map and the slice. Then it runs both commands of the README on a Debian that has only Node, which takes an hour. Ends with 1 if a check of `docs/releases/checks.md` is older than the code, did not pass, or was not run. Needs root and mmdebstrap (apt-get install mmdebstrap), which makes the Debian before the network is taken away; DIR keeps it for the next time.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findContainerEngine } from '../images/engine.mjs'
import { redChecks, unchangedSince } from './checks.mjs'
import { inCleanRoom, makeDebian, run } from './clean-room.mjs'
import { loadImages } from './kit-images.mjs'

/** Blocks of the page that are run here, in the order of the page, by one shell. */
const BLOCK = /^```sh not-run: npm run release:check\n([\s\S]*?)^```$/gm

/** Starts the gateway as a new user does, and succeeds if the map of the demo answers. */
const START = `
  npm start >/start.log 2>&1 &
  for i in $(seq 600); do grep -q 'Gateway  *ready' /start.log && break; sleep 1; done
  cat /start.log
  node -e "fetch(/Map +(http\\S+)/.exec(require('fs').readFileSync('/start.log', 'utf8'))[1]).then((map) => process.exit(map.ok ? 0 : 1))"
`

const { values, positionals } = parseArgs({ options: { root: { type: 'string' } }, allowPositionals: true })
const kit = resolve(positionals[0] ?? '')
const work = mkdtempSync(join(tmpdir(), 'gateway-kit-'))
try {
  const root = resolve(values.root ?? join(work, 'root'))
  if (!existsSync(join(root, 'etc/debian_version'))) makeDebian(root)
  rmSync(join(root, 'kit'), { recursive: true, force: true })
  mkdirSync(join(root, 'kit'))
  run('tar', ['-xf', kit, '-C', join(root, 'kit'), '--strip-components=1'])
  checkSbom(join(root, 'kit'))
  checkImages(join(root, 'kit/images'))
  const page = readFileSync(join(root, 'kit/README.md'), 'utf8')
  const blocks = [...page.matchAll(BLOCK)].map((match) => match[1])
  assert.ok(blocks.length >= 5, 'the page has its commands')
  writeFileSync(
    join(root, 'page.sh'),
    `set -e\ncd /kit\n${blocks.join('\n')}\nnpm run --silent doctor || [ $? = 1 ]\nkill %1\nwait\n`,
  )
  const said = withoutNetwork(root)
  console.log(said)
  assert.match(said, /^200 image\/webp$/m)
  assert.match(said, /^succeeded$/m)
  assert.match(said, /GDAL \d/)
  console.log('The kit installs without a network by its own page: a map is served, an image is sliced.')
  inCleanRoom(START)
  inCleanRoom('npm test')
  const checkout = resolve(import.meta.dirname, '../..')
  const red = redChecks(readFileSync(join(checkout, 'docs/releases/checks.md'), 'utf8'), unchangedSince(checkout))
  for (const line of red) console.error(`red: ${line}`)
  if (red.length > 0) process.exitCode = 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Runs the page in separate namespaces, whose only network interface is the loopback. */
function withoutNetwork(root) {
  const inside = [
    'ip link set lo up 2>/dev/null || ifconfig lo up',
    `mount --bind ${root} ${root}`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `exec chroot ${root} env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash -m /page.sh`,
  ]
  const args = [
    '--net',
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    '--propagation',
    'private',
    'sh',
    '-ec',
    inside.join('\n'),
  ]
  const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`the page failed with ${status}:\n${stdout}\n${stderr}`)
  return stdout
}

function checkSbom(folder) {
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8'))
  const named = new Set(components.flatMap(({ purl }) => purl ?? []))
  const debs = readdirSync(join(folder, 'debian')).filter((file) => file.endsWith('.deb'))
  assert.equal([...named].filter((purl) => purl.startsWith('pkg:deb/')).length, debs.length)
  const images = components.filter(({ type }) => type === 'container')
  for (const { name, components: inside } of images.filter(({ name }) => name.startsWith('map-asset-gateway')))
    assert.ok(inside.length > 20, `the packages of Debian in ${name}`)
  for (const kind of ['pkg:npm/', 'pkg:generic/node@'])
    assert.ok(
      [...named].some((purl) => purl.startsWith(kind)),
      kind,
    )
}

/** Loads the images of the kit, where an engine is here, and compares what they are. */
function checkImages(folder) {
  const engine = findContainerEngine()
  if (!existsSync(join(folder, 'images.json')) || engine === null) {
    console.log('images: not looked at, which takes a kit with images and docker or podman')
    return
  }
  const images = loadImages(engine, folder)
  console.log(`images: ${images.length} loaded, each the one that images.json names`)
}
