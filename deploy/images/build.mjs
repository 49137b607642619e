/**
 * `npm run images`: builds both images with docker or podman, whichever is installed, and prints their sizes. CONTAINER_ENGINE names another
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

for (const target of ['edge', 'control-plane']) {
  const image = `map-asset-gateway-${target}`
  const args = ['build', '--target', target, '-f', join(import.meta.dirname, 'Dockerfile')]
  for (const tag of [version, 'latest']) args.push('-t', `${image}:${tag}`)
  // Not LABEL with ARG: buildah takes such a step from its cache even if the argument has changed.
  for (const [name, value] of Object.entries({ version, revision: revision() })) {
    args.push('--label', `org.opencontainers.image.${name}=${value}`)
  }
  // The OCI format, podman's default, does not support HEALTHCHECK.
  if (engine.isPodman) args.push('--format', 'docker')
  const { status } = spawnSync(engine.program, [...args, root], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
for (const target of ['edge', 'control-plane']) {
  const size = engine.run('image', 'inspect', '--format', '{{.Size}}', `map-asset-gateway-${target}:${version}`)
  console.log(`map-asset-gateway-${target}:${version}  ${Math.round(Number(size) / 1e6)} MB`)
}
