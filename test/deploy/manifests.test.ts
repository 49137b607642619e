import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SETTINGS } from '@gateway/core/settings/schema.js'
import { SECRET_FILE_SETTINGS } from '@gateway/core/settings/secret-files.js'
import { MIGRATION_TIMEOUT_MS } from '@gateway/store/apply-migration.js'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { type KubernetesObject, nameOf, readObjects, schemaViolations, violations } from './kubernetes-types.js'

const deploy = join(import.meta.dirname, '../../deploy')
const files = readdirSync(join(deploy, 'kubernetes'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => join(deploy, 'kubernetes', name))
const objects = files.flatMap(readObjects)

const COMPOSE_FILES = ['compose/compose.yaml', '../docs/examples/compose/compose.yaml'].map((name) =>
  join(deploy, name),
)

const isSetting = (name: string) => Object.hasOwn(SETTINGS, name) || SECRET_FILE_SETTINGS.has(name)
const isOurs = (image: string) => image.startsWith('map-asset-gateway-')

interface SecurityContext {
  readonly runAsNonRoot?: boolean
  readonly seccompProfile?: { readonly type: string }
  readonly allowPrivilegeEscalation?: boolean
  readonly readOnlyRootFilesystem?: boolean
  readonly capabilities?: { readonly drop?: readonly string[] }
}
interface Container {
  readonly name: string
  readonly image: string
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly securityContext?: SecurityContext
  readonly startupProbe?: { readonly periodSeconds?: number; readonly failureThreshold?: number }
  readonly resources?: Readonly<Record<'requests' | 'limits', { readonly cpu?: string; readonly memory?: string }>>
}
interface Pod {
  readonly containers: Container[]
  readonly volumes?: { readonly name: string; readonly emptyDir?: { readonly sizeLimit?: string } }[]
  readonly securityContext?: SecurityContext
  readonly automountServiceAccountToken?: boolean
  readonly terminationGracePeriodSeconds?: number
}
type Workload = KubernetesObject & {
  readonly spec?: {
    readonly template?: { readonly spec: Pod }
    readonly progressDeadlineSeconds?: number
  } & Partial<Pod>
}
const podOf = (object: KubernetesObject) => (object as Workload).spec?.template?.spec
/** Pods with an image; patches name none. */
const wholePods = objects
  .map((object) => ({ name: nameOf(object), pod: podOf(object) ?? ((object as Workload).spec as Pod | undefined) }))
  .flatMap(({ name, pod }) => (pod?.containers?.every(({ image }) => image) ? [{ name, pod }] : []))

test('every Kubernetes object has the fields of its kind, and no others', () => {
  expect(objects.length).toBeGreaterThan(20)
  expect(violations(objects)).toEqual([])
})

test.each([
  ['a misspelt key', (text: string) => text.replace('livenessProbe:', 'livenesProbe:'), /livenesProbe/],
  [
    'a key at the wrong place',
    (text: string) => text.replace('          ports:', '          replicas: 2\n          ports:'),
    /replicas/,
  ],
  ['a number where a word belongs', (text: string) => text.replace('mountPath: /tmp', 'mountPath: 7'), /number/],
])('%s is found', (_, plant, complaint) => {
  const edge = readFileSync(join(deploy, 'kubernetes/base/edge.yaml'), 'utf8')
  const planted = plant(edge)
  expect(planted).not.toBe(edge)
  const found = violations([parse(planted.split('\n---\n')[0] as string)])
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(complaint)
})

test('a kustomization lists every file next to it, and each file exists', () => {
  for (const file of files.filter((name) => name.endsWith('kustomization.yaml'))) {
    const { resources = [], components = [], patches = [] } = parse(readFileSync(file, 'utf8'))
    const paths = patches.flatMap(({ path }: { path?: string }) => path ?? [])
    const listed: string[] = [...new Set([...resources, ...components, ...paths])]
    for (const name of listed) expect(existsSync(join(dirname(file), name)), `${file}: ${name}`).toBe(true)
    const beside = readdirSync(dirname(file)).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
    expect(listed.filter((name) => name.endsWith('.yaml')).sort()).toEqual(beside.sort())
  }
})

test('every setting in manifests and in compose files exists', () => {
  const inManifests = objects.flatMap((object) =>
    (podOf(object)?.containers ?? [])
      .filter(({ image }) => image && isOurs(image))
      .flatMap(({ env = [] }) => env.map(({ name }) => name)),
  )
  const envFiles = ['base', 'overlays/production'].map((dir) => join(deploy, 'kubernetes', dir, 'settings.env'))
  const inFiles = envFiles.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^([A-Z_]+)=/gm)].map((match) => match[1] as string),
  )
  const services: { image: string; environment?: object }[] = COMPOSE_FILES.flatMap((file) =>
    Object.values(parse(readFileSync(file, 'utf8'), { merge: true }).services),
  )
  const inCompose = services
    .filter(({ image }) => isOurs(image))
    .flatMap(({ environment }) => Object.keys(environment ?? {}))
  for (const names of [inManifests, inFiles, inCompose]) expect(names.length).toBeGreaterThan(4)
  expect([...inManifests, ...inFiles, ...inCompose].filter((name) => !isSetting(name))).toEqual([])
})

test('a compose file defines every volume, secret and service that its services name', () => {
  for (const file of COMPOSE_FILES) {
    const { services, volumes, secrets } = parse(readFileSync(file, 'utf8'), { merge: true })
    for (const [name, service] of Object.entries<{ volumes?: string[]; secrets?: string[]; depends_on?: string[] }>(
      services,
    )) {
      const mounted = (service.volumes ?? []).map((volume) => volume.split(':')[0] as string)
      const named = mounted.filter((volume) => /^\w[\w-]*$/.test(volume))
      expect([file, name, named.filter((volume) => !(volume in volumes))]).toEqual([file, name, []])
      expect([file, name, (service.secrets ?? []).filter((secret) => !(secret in secrets))]).toEqual([file, name, []])
      expect([file, name, (service.depends_on ?? []).filter((other) => !(other in services))]).toEqual([file, name, []])
    }
  }
})

test('a container mounts only volumes that its pod has', () => {
  for (const object of objects.filter(({ kind }) => kind === 'Deployment')) {
    const pod = podOf(object)
    const volumes = pod?.volumes?.map(({ name }) => name) ?? []
    for (const container of pod?.containers ?? []) {
      const mounted = (container.volumeMounts ?? []).map(({ name }) => name)
      expect([nameOf(object), mounted.filter((name) => !volumes.includes(name))]).toEqual([nameOf(object), []])
    }
  }
})

test.each(wholePods)(
  '$name meets the restricted Pod Security Standard, writes only to volumes, and has limits',
  ({ pod }) => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    for (const container of pod.containers)
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        resources: {
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        },
      })
    for (const { emptyDir } of pod.volumes ?? []) if (emptyDir) expect(emptyDir.sizeLimit).toBeDefined()
  },
)

test('a pod of the gateway has the time to drain before it is killed', () => {
  const pods = wholePods.filter(({ pod }) =>
    pod.containers.some(({ name }) => ['edge', 'control-plane'].includes(name)),
  )
  expect(pods).toHaveLength(2)
  for (const { name, pod } of pods) {
    const setting = (key: 'DRAIN_NOTICE_SECONDS' | 'DRAIN_SECONDS') =>
      SETTINGS[key].parse(pod.containers[0]?.env?.find((variable) => variable.name === key)?.value)
    // Additional time of an edge at most: to close its connections, and to write its usage.
    const needed = setting('DRAIN_NOTICE_SECONDS') + setting('DRAIN_SECONDS') + 3 + 3 + 3
    expect([name, (pod.terminationGracePeriodSeconds ?? 30) > needed]).toEqual([name, true])
  }
})

test('a control plane has the time for the longest migration before its pod is killed or its update counts as failed', () => {
  const deployment = objects.find(
    (object) => nameOf(object) === 'Deployment control-plane' && podOf(object)?.containers[0]?.image,
  )
  const { progressDeadlineSeconds = 600 } = (deployment as Workload).spec ?? {}
  const { periodSeconds = 10, failureThreshold = 3 } = podOf(deployment as Workload)?.containers[0]?.startupProbe ?? {}
  expect(periodSeconds * failureThreshold).toBeGreaterThan(MIGRATION_TIMEOUT_MS / 1000)
  expect(progressDeadlineSeconds).toBeGreaterThan(periodSeconds * failureThreshold)
})

const isKubectlHere = spawnSync('kubectl', ['version', '--client']).status === 0
const overlay = (name: string): KubernetesObject[] => {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(deploy, 'kubernetes/overlays', name)], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  return parseAllDocuments(stdout).map((document) => document.toJS())
}

test('the schemas of the Gateway API and of CloudNativePG find a value that types let through', async () => {
  const found = objects.filter(({ kind }) => ['Gateway', 'HTTPRoute', 'Cluster'].includes(kind))
  expect(found).toHaveLength(3)
  expect(await schemaViolations(found)).toEqual([])
  const planted = JSON.parse(
    JSON.stringify(found).replace('"port":443', '"port":70000').replace('"instances":3', '"instances":0'),
  )
  expect(await schemaViolations(planted)).toHaveLength(2)
})

describe.skipIf(!isKubectlHere)('as kubectl builds it', () => {
  test.each([
    ['a fraction of a pod', '"minReplicas":3', '"minReplicas":3.5'],
    [
      'a required field that is absent',
      '"replicas":2,"selector":{"matchLabels":{"app":"control-plane"}},',
      '"replicas":2,',
    ],
    ['a policy that is unknown', '"ipFamilyPolicy":"PreferDualStack"', '"ipFamilyPolicy":["PreferDualStack"]'],
  ])('the schemas of Kubernetes find %s', async (_, from, to) => {
    const text = JSON.stringify(overlay('production'))
    expect(text).toContain(from)
    expect(await schemaViolations(JSON.parse(text.replace(from, to)))).toHaveLength(1)
  })

  test.each(['small', 'production', 'gateway-api', 'cloudnative-pg', 'pictures'])(
    'overlay %s holds no object twice, and none that is not valid',
    async (name) => {
      const built = overlay(name)
      expect(new Set(built.map((object) => `${object.apiVersion} ${nameOf(object)}`)).size).toBe(built.length)
      expect(violations(built)).toEqual([])
      expect(await schemaViolations(built)).toEqual([])
      for (const app of ['edge', 'control-plane']) {
        const deployment = built.find((object) => nameOf(object) === `Deployment ${app}`) as Workload
        const mounted = podOf(deployment)?.containers[0]?.volumeMounts ?? []
        const volumes = podOf(deployment)?.volumes?.map((volume) => volume.name) ?? []
        expect(mounted.filter((mount) => !volumes.includes(mount.name))).toEqual([])
      }
    },
  )

  test('pictures has edges with Chromium and the memory of a browser', () => {
    const edge = overlay('pictures').find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'edge')
    const [container] = (edge as unknown as { spec: { template: { spec: { containers: unknown[] } } } }).spec.template
      .spec.containers
    expect(container).toMatchObject({
      image: expect.stringMatching(/^map-asset-gateway-renderer:\d/),
      resources: { requests: { cpu: '1' }, limits: { memory: '4Gi' } },
    })
  })

  test('gateway-api has a route with the addresses of the ingress in place of it', () => {
    const kinds = (built: readonly KubernetesObject[]) => built.map(({ kind }) => kind)
    expect(kinds(overlay('production'))).toContain('Ingress')
    const built = overlay('gateway-api')
    expect(kinds(built)).not.toContain('Ingress')
    const route = built.find(({ kind }) => kind === 'HTTPRoute') as unknown as {
      spec: { rules: { matches: { path: { value: string } }[] }[] }
    }
    const ingress = parse(readFileSync(join(deploy, 'kubernetes/overlays/production/ingress.yaml'), 'utf8'))
    expect(route.spec.rules.flatMap(({ matches }) => matches.map(({ path }) => path.value)).sort()).toEqual(
      ingress.spec.rules[0].http.paths.map(({ path }: { path: string }) => path).sort(),
    )
  })

  test('cloudnative-pg gives both processes the address that the operator writes, at the path where the settings look', () => {
    const built = overlay('cloudnative-pg')
    const settings = built.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> }
    expect(settings.data.DATABASE_URL_FILE).toBe('/secrets/store/database-url')
    const volumes = ['edge', 'control-plane'].map((app) => {
      const deployment = built.find((object) => nameOf(object) === `Deployment ${app}`) as Workload
      return podOf(deployment)?.volumes?.find(({ name }) => name === 'store-secret')
    })
    const items = [{ key: 'uri', path: 'database-url' }]
    for (const volume of volumes) {
      expect(volume).toMatchObject({ projected: { sources: [{ secret: { name: 'gateway-db-app', items } }, {}] } })
      expect(volume).not.toHaveProperty('secret')
    }
  })

  test('every process of the gateway has a priority, and policies for what it calls, names and traces among it', () => {
    const built = overlay('production')
    const classes = built.filter(({ kind }) => kind === 'PriorityClass').map(({ metadata }) => metadata?.name)
    const egress = (app: string) =>
      built.flatMap((object) => {
        const { spec } = object as unknown as {
          spec?: {
            podSelector?: { matchLabels: { app?: string } }
            egress?: { to?: object[]; ports: { port: number }[] }[]
          }
        }
        return object.kind === 'NetworkPolicy' && spec?.podSelector?.matchLabels.app === app ? (spec.egress ?? []) : []
      })
    for (const app of ['edge', 'control-plane']) {
      const deployment = built.find((object) => nameOf(object) === `Deployment ${app}`) as Workload
      expect(classes).toContain((podOf(deployment) as { priorityClassName?: string }).priorityClassName)
      const anywhere = egress(app).filter(({ to }) => to === undefined)
      expect(anywhere.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual(
        expect.arrayContaining([53, 5432, 6379, 4317, 4318]),
      )
    }
  })
})

test('the ingress lets every address of the edge through but its probes and metrics', () => {
  const routes = ['server', 'protocols'].map((file) =>
    readFileSync(join(deploy, `../services/edge/src/http/${file}.ts`), 'utf8'),
  )
  const served = new Set([...routes.join('').matchAll(/'\/([a-z]+)(?:\/[^']*)?'/g)].map((match) => match[1] as string))
  expect(served.size).toBeGreaterThan(8)
  const ingress = parse(readFileSync(join(deploy, 'kubernetes/overlays/production/ingress.yaml'), 'utf8'))
  const listed: string[] = ingress.spec.rules[0].http.paths.map(({ path }: { path: string }) => path.slice(1))
  // The empty string is the root path.
  const handedOn = ['', 'admin', 'map', 'docs', 'ArcGIS']
  expect(listed.sort()).toEqual(
    [...served, ...handedOn].filter((path) => !['health', 'ready', 'metrics'].includes(path)).sort(),
  )
})
