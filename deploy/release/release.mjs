/**
 * `npm run release [-- --out DIR] [--no-images] [--offline [--sign KEY]]`: makes the parts of a release out of the commit that is checked out, in a separate clone, and their checksums:
 *
 *     map-asset-gateway-VERSION-PLATFORM-ARCH.tar.gz   everything that `npm start` needs, for every supported version of Node
 *     map-asset-gateway-edge-VERSION.tar.gz            images, if docker or podman is installed (`docker load`)
 *     map-asset-gateway-control-plane-VERSION.tar.gz
 *     map-asset-gateway-docs-VERSION.tar.gz            the documentation
 *     map-asset-gateway-chart-VERSION.tgz              the Helm chart, if kubectl is installed
 *     sbom.cdx.json, THIRD-PARTY-NOTICES.md, NOTES.md, bench.json, SHA256SUMS
 *
 * With `--offline`, one archive of all these parts and everything else that an installation without a network needs (kit.mjs), signed with the key in the file KEY.
 *
 * Takes a few minutes, writes nothing into the checkout, publishes nothing. Ends with 2 where the checkout has changes.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { assemble } from '../images/assemble.mjs'
import { findContainerEngine } from '../images/engine.mjs'
import { makeKit } from './kit.mjs'
import { saveImage } from './kit-images.mjs'
import { notices, services, thirdParties } from './notices.mjs'
import { changesOf } from './release-notes.mjs'

const root = resolve(import.meta.dirname, '../..')
/** Files for readers of the tarball, besides the services. */
const FOR_READERS = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'config/service.env.example',
  'docs',
  'deploy/README.md',
]
const FOR_OPERATORS = ['compose', 'helm', 'kubernetes', 'monitoring', 'nginx-cache'].map((folder) => `deploy/${folder}`)

const { values: options } = parseArgs({
  options: {
    out: { type: 'string' },
    'no-images': { type: 'boolean', default: false },
    offline: { type: 'boolean', default: false },
    sign: { type: 'string' },
  },
})
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const name = 'map-asset-gateway'
const out = resolve(options.out ?? join(root, `var/release/${version}`))

const changes = output('git', ['status', '--porcelain'], root)
if (changes !== '') {
  process.stderr.write(`A release is made of a commit, and this checkout has changes:\n${changes}\n`)
  process.exit(2)
}
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const work = mkdtempSync(join(tmpdir(), 'gateway-release-'))
try {
  // The SBOM takes the name of its subject from the folder.
  await release(join(work, name))
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function release(source) {
  run('git', ['clone', '--quiet', '--no-hardlinks', root, source], work)
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], source)
  run('npm', ['run', '--silent', 'build'], source)
  const document = notices(thirdParties(source))
  writeFileSync(join(out, 'THIRD-PARTY-NOTICES.md'), document)
  writeFileSync(join(out, 'NOTES.md'), changesOf(readFileSync(join(source, 'CHANGELOG.md'), 'utf8'), version))
  writeFileSync(join(out, 'sbom.cdx.json'), sbom(source))
  cpSync(join(source, 'bench/results/comparison.json'), join(out, 'bench.json'))
  packServices(source, document)
  packDocs(source)
  await packChart(source)
  if (!options['no-images']) saveImages(source)
  if (options.offline) packKit(source)
  writeSums()
}

function packServices(source, document) {
  const folder = `${name}-${version}`
  const to = join(work, folder)
  const { packages } = JSON.parse(readFileSync(join(source, 'package-lock.json'), 'utf8'))
  assemble(source, to, services(packages), { anyNode: true })
  // `npm start` runs the set-up first, and recognizes a complete installation by the last file that npm wrote.
  cpSync(join(source, 'services/tools/setup'), join(to, 'services/tools/setup'), { recursive: true })
  cpSync(join(source, 'node_modules/.package-lock.json'), join(to, 'node_modules/.package-lock.json'))
  for (const path of [...FOR_READERS, ...FOR_OPERATORS]) cpSync(join(source, path), join(to, path), { recursive: true })
  writeFileSync(join(to, 'THIRD-PARTY-NOTICES.md'), document)
  pack(work, folder, `${folder}-${process.platform}-${process.arch}.tar.gz`, source)
}

/** Packs the built site, or else its Markdown sources. */
function packDocs(source) {
  const site = join(source, 'services/tools/docs/dist')
  const [parent, folder] = existsSync(site) ? [join(source, 'services/tools/docs'), 'dist'] : [source, 'docs']
  pack(parent, folder, `${name}-docs-${version}.tar.gz`, source)
}

/** Uses the packages of the clone, so that the checkout needs none. */
async function packChart(source) {
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) {
    console.log('No Helm chart: kubectl is not here.')
    return
  }
  const parent = join(work, 'chart')
  const { makeChart } = await import(pathToFileURL(join(source, 'deploy/helm/make.mjs')).href)
  makeChart(join(parent, name), version)
  pack(parent, name, `${name}-chart-${version}.tgz`, source)
}

function saveImages(source) {
  const engine = findContainerEngine()
  if (engine === null) {
    console.log('No images: neither docker (with a running daemon) nor podman is here.')
    return
  }
  run(process.execPath, ['deploy/images/build.mjs'], source)
  for (const target of ['edge', 'control-plane'])
    saveImage(engine, `${name}-${target}:${version}`, join(out, `${name}-${target}-${version}.tar.gz`))
}

function packKit(source) {
  const folder = `${name}-offline-${version}`
  const kit = join(work, folder)
  const engine = options['no-images'] ? null : findContainerEngine()
  makeKit({
    out,
    kit,
    source,
    version,
    engine,
    keyFile: options.sign,
    pack: (parent, what, file) => pack(parent, what, file, source),
  })
  rmSync(out, { recursive: true })
  mkdirSync(out)
  pack(work, folder, `${folder}-${process.platform}-${process.arch}.tar`, source)
}

function sbom(source) {
  return output('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--loglevel=error'], source)
}

/** Creates reproducible archives: sorted by name, with the time of the commit, and without an owner. */
function pack(parent, folder, file, source) {
  const time = output('git', ['log', '-1', '--format=%cI'], source)
  const same = [
    '--sort=name',
    `--mtime=${time}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    ...(/gz$/.test(file) ? ['--use-compress-program=gzip -n'] : []),
  ]
  run('tar', [...same, '-cf', resolve(out, file), '-C', parent, folder], work)
}

function writeSums() {
  const files = readdirSync(out).sort()
  const sum = (file) =>
    createHash('sha256')
      .update(readFileSync(join(out, file)))
      .digest('hex')
  const lines = files.map((file) => `${sum(file)}  ${file}`)
  writeFileSync(join(out, 'SHA256SUMS'), `${lines.join('\n')}\n`)
  for (const [i, file] of files.entries()) {
    const size = (statSync(join(out, file)).size / 1e6).toFixed(1)
    console.log(`${size.padStart(8)} MB  ${lines[i]?.slice(0, 12)}  ${file}`)
  }
  console.log(out)
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? status}`)
}

function output(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 27 })
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${stderr.trim()}`)
  return stdout.trim()
}
