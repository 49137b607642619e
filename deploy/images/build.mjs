/**
 * `npm run images`: builds the images of edges and control planes with docker or podman, whichever is installed, and prints their sizes; with
 * `-- renderer` also that of edges with Chromium. CONTAINER_ENGINE names another
 * program. Tags them with the version and `latest`, without a registry: push them to any registry you want.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { containerEngine } from './engine.mjs'
import { revision } from './revision.mjs'

const root = resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const engine = containerEngine()
const targets = ['edge', 'control-plane', ...process.argv.slice(2).filter((name) => name === 'renderer')]

for (const target of targets) {
  const image = `map-asset-gateway-${target}`
  build(['--target', target, '-f', join(import.meta.dirname, 'Dockerfile'), '-t', `${image}:unlabelled`, root])
  // Separately: buildah takes an image with other labels from its cache if the files are the same.
  const labels = Object.entries({ version, revision: revision() }).map(
    ([name, value]) => `org.opencontainers.image.${name}=${value}`,
  )
  const tags = [version, 'latest'].flatMap((tag) => ['-t', `${image}:${tag}`])
  build(['--no-cache', ...labels.flatMap((label) => ['--label', label]), ...tags, '-'], `FROM ${image}:unlabelled\n`)
}
for (const target of targets) {
  const size = engine.run('image', 'inspect', '--format', '{{.Size}}', `map-asset-gateway-${target}:${version}`)
  console.log(`map-asset-gateway-${target}:${version}  ${Math.round(Number(size) / 1e6)} MB`)
}

function build(args, dockerfile) {
  // The OCI format, podman's default, does not support HEALTHCHECK.
  const format = engine.isPodman ? ['--format', 'docker'] : []
  const { status } = spawnSync(engine.program, ['build', ...format, ...args], {
    input: dockerfile,
    stdio: [dockerfile === undefined ? 'ignore' : 'pipe', 'inherit', 'inherit'],
  })
  if (status !== 0) process.exit(status ?? 1)
}
