/** Checks the content and the configuration of the images. */
import assert from 'node:assert/strict'
import { revision } from '../revision.mjs'

/** Maximum sizes in MB: the current sizes plus some room. The edge has the fonts of glyphs, and the readers of archives. */
const MOST_MB = { edge: 285, 'control-plane': 620 }

/** Programs that build or install; names of files that only developers need, and binaries of other platforms or of Postgres. */
const UNWANTED_PROGRAMS = ['gcc', 'g++', 'make', 'npm', 'npx', 'corepack']
const UNWANTED_FILES = [
  '*.test.*',
  '*.d.ts',
  '*.map',
  'initdb',
  'pg_ctl',
  '*.cc',
  '*darwin*.node',
  '*win32*.node',
  '*musl*.node',
]

/** Copies of sources and tests that pages of the documentation link to. */
const LINKED_FILES = '/app/services/tools/docs/dist/files/*'

/** Modules that a process loads only if a setting requires them. */
const LATER = ['/app/libs/core/dist/tracing/otlp-tracer.js', '@aws-sdk/credential-provider-node']

/** @param isBuilt true if the images were just built from this checkout */
export function checkContents(engine, isBuilt) {
  for (const [name, mostMb] of Object.entries(MOST_MB)) {
    const image = `map-asset-gateway-${name}:latest`
    const [facts] = JSON.parse(engine.run('image', 'inspect', image))
    const mb = Math.round(facts.Size / 1e6)
    assert.ok(mb <= mostMb, `${image} has ${mb} MB`)
    assert.equal(facts.Config.User, '10001:10001')
    assert.ok(facts.Config.Healthcheck ?? facts.HealthCheck ?? facts.Healthcheck, `${image} has no HEALTHCHECK`)
    const label = facts.Config.Labels['org.opencontainers.image.revision']
    if (isBuilt) assert.equal(label, revision())
    else assert.match(label, /^[0-9a-f]{40}|^unknown/)
    const sh = (script) =>
      engine.run('run', '--rm', '--read-only', '--network=none', '--entrypoint', 'sh', image, '-c', script)
    assert.equal(sh(`for p in ${UNWANTED_PROGRAMS.join(' ')}; do command -v $p || true; done`), '')
    const patterns = UNWANTED_FILES.map((pattern) => `-name '${pattern}'`).join(' -o ')
    assert.equal(sh(`find /app ! -path '${LINKED_FILES}' \\( ${patterns} \\) | head`), '')
    assert.equal(sh('find /app -writable ! -type l | head'), '', 'the user can write to /app')
    sh(`cd /app && node --input-type=module -e "${LATER.map((module) => `await import('${module}')`).join(';')}"`)
    console.log(`${image}: ${mb} MB, nothing in it that does not belong there`)
  }
}
