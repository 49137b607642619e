/**
 * The small Kubernetes overlay, run by podman with its pods, probes, volumes and secrets. Podman does not support services: each pod gets the
 * name of its service in the network instead. Disruption budgets and network policies need a real cluster.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'
import { until } from './compose.mjs'

const NETWORK = 'gateway-check-kube'
const overlays = resolve(import.meta.dirname, '../../kubernetes/overlays')
/** Apps in the order of their start. */
const APPS = ['postgres', 'control-plane', 'edge']

export async function checkKube(engine) {
  const [built, production] = ['small', 'production'].map((name) =>
    spawnSync('kubectl', ['kustomize', join(overlays, name)], { encoding: 'utf8' }),
  )
  if (!engine.isPodman || built.error) {
    console.log('kubernetes: not played, which takes podman and kubectl')
    return
  }
  for (const { status, stderr } of [built, production]) assert.equal(status, 0, stderr)
  const objects = parseAllDocuments(built.stdout).map((document) => document.toJS())
  // podman 4.3 crashes on a secret without this field.
  for (const { spec } of objects)
    for (const { secret } of spec?.template?.spec.volumes ?? []) if (secret) secret.optional = false
  const directory = mkdtempSync(join(tmpdir(), 'gateway-kube-'))
  const made = new Set()
  const play = (app, ...args) => {
    const deployment = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === app)
    const settings = objects.filter(({ kind }) => kind === 'ConfigMap')
    // podman refuses a claim that already exists.
    const claims = objects.filter(({ kind, metadata: { name } }) => {
      const isNew =
        kind === 'PersistentVolumeClaim' &&
        !made.has(name) &&
        JSON.stringify(deployment).includes(`"claimName":"${name}"`)
      return isNew && made.add(name)
    })
    const wanted = [...settings, ...claims, deployment]
    const file = join(directory, `${app}.yaml`)
    writeFileSync(file, wanted.map((object) => stringify(object)).join('---\n'))
    return spawnSync(engine.program, ['kube', 'play', ...args, file], { encoding: 'utf8' })
  }
  try {
    engine.run('network', 'create', NETWORK)
    makeSecrets(engine, directory)
    for (const app of APPS) {
      const { status, stdout, stderr } = play(app, '--network', `${NETWORK}:alias=${app}`)
      assert.equal(status, 0, `${app}: ${stdout}${stderr}`)
    }
    await checkTile(engine)
    console.log('kubernetes: the small overlay serves a tile')
  } finally {
    for (const app of APPS.toReversed()) play(app, '--down')
    for (const volume of ['postgres', 'gateway-data', 'gateway-maps', 'gateway-store', 'gateway-admin'])
      spawnSync(engine.program, ['volume', 'rm', '-f', volume])
    for (const secret of ['gateway-store', 'gateway-admin']) spawnSync(engine.program, ['secret', 'rm', secret])
    spawnSync(engine.program, ['network', 'rm', '-f', NETWORK])
    rmSync(directory, { recursive: true })
  }
}

function makeSecrets(engine, directory) {
  const random = () => randomBytes(24).toString('hex')
  const password = random()
  const secrets = {
    'gateway-store': {
      'postgres-password': password,
      'database-url': `postgres://gateway:${password}@postgres:5432/gateway`,
    },
    'gateway-admin': { 'admin-password': random(), 'admin-token': random() },
  }
  // Before 4.4 podman mounted the values without decoding them.
  const [major, minor] = engine.run('version', '--format', '{{.Client.Version}}').split('.').map(Number)
  const decodes = major > 4 || (major === 4 && minor > 3)
  for (const [name, stringData] of Object.entries(secrets)) {
    const encode = (value) => (decodes ? Buffer.from(value).toString('base64') : value)
    const data = Object.fromEntries(Object.entries(stringData).map(([key, value]) => [key, encode(value)]))
    const file = join(directory, `${name}.yaml`)
    writeFileSync(file, stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data }))
    engine.run('secret', 'create', name, file)
  }
}

/** Uses the port that `kubectl port-forward` would open. */
async function checkTile(engine) {
  const named = engine.run('ps', '--format', '{{.Names}}').split('\n')
  const [controlPlane, edge] = ['control-plane', 'edge'].map((app) =>
    named.find((name) => name.startsWith(`${app}-pod`) && name.endsWith(`-${app}`)),
  )
  const demo = engine.run('exec', controlPlane, 'node', 'services/tools/dist/launcher/demo-only.js')
  const token = /token=(bmp_\w+)/.exec(demo)?.[1]
  const code = `fetch('http://127.0.0.1:8910/tiles/world/current/0/0/0.webp?token=${token}').then((r) => process.stdout.write(String(r.status)))`
  await until('the edge serves a tile', () => engine.run('exec', edge, 'node', '-e', code) === '200')
}
