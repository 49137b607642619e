import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SETTINGS } from '@gateway/core/settings/schema.js'
import { SECRET_FILE_SETTINGS } from '@gateway/core/settings/secret-files.js'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { type KubernetesObject, nameOf, readObjects, violations } from './kubernetes-types.js'

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
  readonly spec?: { readonly template?: { readonly spec: Pod } } & Partial<Pod>
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

test('a kustomization lists every file beside it, and each file exists', () => {
  for (const file of files.filter((name) => name.endsWith('kustomization.yaml'))) {
    const { resources = [], patches = [] } = parse(readFileSync(file, 'utf8'))
    const listed: string[] = [...resources, ...patches.map(({ path }: { path: string }) => path)]
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
  '$name meets the restricted Pod Security Standard, writes to volumes alone, and has limits',
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

test('the ingress passes on every path of the edge except its probes and metrics', () => {
  const server = readFileSync(join(deploy, '../services/edge/src/http/server.ts'), 'utf8')
  const served = new Set([...server.matchAll(/'\/([a-z]+)(?:\/[^']*)?'/g)].map((match) => match[1] as string))
  expect(served.size).toBeGreaterThan(8)
  const ingress = parse(readFileSync(join(deploy, 'kubernetes/overlays/production/ingress.yaml'), 'utf8'))
  const listed: string[] = ingress.spec.rules[0].http.paths.map(({ path }: { path: string }) => path.slice(1))
  // The empty string is the root path.
  const handedOn = ['', 'api', 'admin', 'map', 'docs', 'ArcGIS']
  expect(listed.sort()).toEqual(
    [...served, ...handedOn].filter((path) => !['health', 'ready', 'metrics'].includes(path)).sort(),
  )
})
