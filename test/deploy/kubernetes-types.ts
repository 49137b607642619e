/**
 * Checks Kubernetes objects against the types of the API: TypeScript refuses a key that an object of its kind does not have, at any depth.
 * The API server by default drops such a key with a warning.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

const root = join(import.meta.dirname, '../..')

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: { readonly name?: string }
}

/** Types for kinds outside of Kubernetes itself, limited to the fields used here. */
const OTHER_KINDS: Readonly<Record<string, string>> = {
  'kustomize.config.k8s.io/v1beta1 Kustomization': `{
    resources?: string[]; images?: { name: string; newName?: string; newTag: string }[]; patches?: { path: string }[]; components?: string[]
    labels?: { pairs: Record<string, string>; includeSelectors?: boolean; includeTemplates?: boolean }[]
    configMapGenerator?: { name: string; behavior?: 'merge'; envs?: string[]; literals?: string[] }[] }`,
  'kustomize.config.k8s.io/v1alpha1 Component': `{
    resources?: string[]; images?: { name: string; newName: string }[]; patches?: { target?: { kind: string; name?: string }; path?: string; patch?: string }[] }`,
  'monitoring.coreos.com/v1 ServiceMonitor': `{ metadata: { name: string; labels: Record<string, string> }; spec: {
    selector: { matchLabels: Record<string, string> }; endpoints: { port: string; path: string; interval: string }[] } }`,
  // promtool checks what is in it.
  'monitoring.coreos.com/v1 PrometheusRule':
    '{ metadata: { name: string; labels: Record<string, string> }; spec: { groups: object[] } }',
}

/** Packages with the types and schemas of operators' APIs. */
const MODELS: Readonly<Record<string, string>> = {
  'gateway.networking.k8s.io/v1': '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1',
  'postgresql.cnpg.io/v1': '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1',
}

const API_GROUPS: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'networking.k8s.io/v1': 'networking/v1',
  'scheduling.k8s.io/v1': 'scheduling/v1',
}

export function readObjects(file: string): KubernetesObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`)
    return document.toJS() as KubernetesObject
  })
}

/** Returns the violations in the objects, one per line with the object's name; patches may omit required fields or set them to null. */
export function violations(objects: readonly KubernetesObject[]): string[] {
  const lines = [
    'type Patch<T> = T extends (infer U)[] ? Patch<U>[] : T extends object ? { [K in keyof T]?: Patch<T[K]> | null } : T',
  ]
  objects.forEach((object, index) => {
    lines.push(`export const o${index}: ${typeOf(object)} = ${JSON.stringify(object)} // ${nameOf(object)}`)
  })
  // The directory is below the repository, so that TypeScript finds the types.
  const dir = mkdtempSync(join(root, 'test/deploy/.objects-'))
  try {
    writeFileSync(join(dir, 'objects.ts'), `${lines.join('\n')}\n`)
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--ignoreConfig',
      '--types',
      '',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
    ]
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...options, join(dir, 'objects.ts')], {
      encoding: 'utf8',
    })
    if (status === 0) return []
    return stdout.split('\n').flatMap((line) => {
      const at = /objects\.ts\((\d+),\d+\): error (.*)/.exec(line)
      return at ? [`${nameOf(objects[Number(at[1]) - 2] as KubernetesObject)}: ${at[2]}`] : []
    })
  } finally {
    rmSync(dir, { recursive: true })
  }
}

function typeOf({ apiVersion, kind }: KubernetesObject): string {
  const other = OTHER_KINDS[`${apiVersion} ${kind}`]
  if (other !== undefined) return `${other} & { apiVersion: string; kind: string }`
  const models = MODELS[apiVersion]
  if (models !== undefined) return `Patch<import('${models}/${kind}').I${kind}>`
  return `Patch<import('kubernetes-types/${API_GROUPS[apiVersion] ?? apiVersion}').${kind}>`
}

/**
 * Returns the violations of the schemas that an API server has of these kinds, one per line: values, lengths and patterns too, which types do not
 * have. The objects must be whole. The kinds of the Prometheus operator are left out.
 */
export async function schemaViolations(objects: readonly KubernetesObject[]): Promise<string[]> {
  const lines: string[] = []
  for (const object of objects) {
    if (object.apiVersion.startsWith('monitoring.coreos.com/')) continue
    const models = MODELS[object.apiVersion] ?? `kubernetes-models/${object.apiVersion}`
    const { [object.kind]: Model } = await import(`${models}/${object.kind}`)
    try {
      new Model(object).validate()
    } catch (error) {
      lines.push(`${nameOf(object)}: ${(error as Error).message}`)
    }
  }
  return lines
}

export function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata?.name ?? ''}`.trim()
}
