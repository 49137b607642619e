/**
 * The offline kit: one archive with all that an installation without a network needs, out of the parts of a release.
 *
 *     map-asset-gateway-offline-VERSION-PLATFORM-ARCH.tar
 *       README.md              docs/offline-kit.md
 *       SHA256SUMS, SHA256SUMS.sig or .minisig, sbom.cdx.json, THIRD-PARTY-NOTICES.md, NOTES.md
 *       gateway/               the gateway with its packages, for every Node that is supported
 *       node/                  this machine's Node with npm
 *       debian/                Postgres, Redis, nginx, GDAL and what they need, as a repository
 *       docs/                  the documentation
 *       images/                where docker or podman is: the gateway's and the others of compose.yaml, with images.json of their digests
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { DEBIAN_PACKAGES, downloadPackages } from './debian-packages.mjs'
import { saveImages } from './kit-images.mjs'
import { kitSbom } from './sbom.mjs'
import { signFile } from './sign.mjs'

/**
 * Moves the parts of a release in `out` into the folder `kit`, adds the others and signs the checksums.
 * @param {{out: string, kit: string, source: string, version: string, pack: (parent: string, folder: string, file: string) => void,
 *          engine: object | null, keyFile: string | undefined}} options `pack` writes an archive that is the same each time
 */
export function makeKit({ out, kit, source, version, pack, engine, keyFile }) {
  for (const folder of ['gateway', 'docs', 'images', 'node']) mkdirSync(join(kit, folder), { recursive: true })
  for (const file of readdirSync(out)) {
    const isImage = /-(?:edge|control-plane)-[\d.]+\.tar\.gz$/.test(file)
    const folder = file.includes('-docs-') ? 'docs' : isImage ? 'images' : file.endsWith('.tar.gz') ? 'gateway' : '.'
    if (file !== 'bench.json' && file !== 'SHA256SUMS') renameSync(join(out, file), join(kit, folder, file))
  }
  packNode(kit, pack)
  const debian = { distribution: distribution(), packages: downloadPackages(DEBIAN_PACKAGES, join(kit, 'debian')) }
  const images = engine === null ? [] : saveImages(engine, join(kit, 'images'), version)
  cpSync(join(source, 'docs/offline-kit.md'), join(kit, 'README.md'))
  const sbomFile = join(kit, 'sbom.cdx.json')
  const node = { version: process.versions.node, sha256: sumOf(process.execPath) }
  writeFileSync(
    sbomFile,
    `${JSON.stringify(kitSbom(JSON.parse(readFileSync(sbomFile, 'utf8')), debian, node, images), null, 2)}\n`,
  )
  const sums = filesBelow(kit).map((file) => `${sumOf(join(kit, file))}  ${file}`)
  writeFileSync(join(kit, 'SHA256SUMS'), `${sums.join('\n')}\n`)
  if (keyFile !== undefined) signFile(join(kit, 'SHA256SUMS'), keyFile)
}

/** The program and npm, as they lie below a prefix. */
function packNode(kit, pack) {
  const folder = join(kit, `node-${process.version}`)
  mkdirSync(join(folder, 'bin'), { recursive: true })
  cpSync(process.execPath, join(folder, 'bin/node'))
  const npm = join(dirname(process.execPath), '../lib/node_modules/npm')
  if (!existsSync(npm)) throw new Error(`npm is missing next to ${process.execPath}, at ${npm}`)
  cpSync(npm, join(folder, 'lib/node_modules/npm'), { recursive: true, dereference: true })
  writeFileSync(
    join(folder, 'bin/npm'),
    '#!/bin/sh\nexec "$(dirname "$0")/node" "$(dirname "$0")/../lib/node_modules/npm/bin/npm-cli.js" "$@"\n',
    {
      mode: 0o755,
    },
  )
  pack(
    kit,
    `node-${process.version}`,
    join(kit, 'node', `node-${process.version}-${process.platform}-${process.arch}.tar.gz`),
  )
  rmSync(folder, { recursive: true })
}

function distribution() {
  const text = readFileSync('/etc/os-release', 'utf8')
  return `debian-${/^VERSION_ID="?([^"\n]*)/m.exec(text)?.[1] ?? 'unknown'}`
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort()
}

function sumOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
