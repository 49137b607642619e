/**
 * Makes the Helm chart out of deploy/kubernetes/overlays/production, so that both say the same:
 *
 *     node deploy/helm/make.mjs OUT
 *
 * Needs kubectl. Each object becomes a template, in which the fields of FIELDS are taken from the values.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments, stringify } from 'yaml'

const root = resolve(import.meta.dirname, '../..')
const NAME = 'map-asset-gateway'

/** Expressions of templates, by kind and name of the object and the path of the field. */
const FIELDS = {
  'ConfigMap gateway-settings': { data: '.Values.settings' },
  'Deployment edge': {
    ...podFields('edge'),
    'spec.template.spec.containers.0.env.EDGE_WORKERS': '.Values.edge.workers | toString',
  },
  'Deployment control-plane': { 'spec.replicas': '.Values.controlPlane.replicas', ...podFields('controlPlane') },
  'HorizontalPodAutoscaler edge': {
    'spec.minReplicas': '.Values.edge.minReplicas',
    'spec.maxReplicas': '.Values.edge.maxReplicas',
  },
  'PersistentVolumeClaim gateway-data': claimFields('data'),
  'PersistentVolumeClaim gateway-maps': claimFields('maps'),
  'Ingress gateway': {
    'metadata.annotations': '.Values.ingress.annotations',
    'spec.ingressClassName': '.Values.ingress.className',
    'spec.tls.0.hosts.0': '.Values.ingress.host',
    'spec.tls.0.secretName': '.Values.ingress.tlsSecret',
    'spec.rules.0.host': '.Values.ingress.host',
  },
  'NetworkPolicy edge-callers': {
    'spec.ingress.0.from.0.namespaceSelector.matchLabels': namespace('ingressNamespace'),
    'spec.ingress.0.from.1.namespaceSelector.matchLabels': namespace('monitoringNamespace'),
  },
  'NetworkPolicy control-plane-metrics': {
    'spec.ingress.0.from.0.namespaceSelector.matchLabels': namespace('monitoringNamespace'),
  },
  'ServiceMonitor gateway-edge': { 'metadata.labels.release': '.Values.monitoring.release' },
  'ServiceMonitor gateway-control-plane': { 'metadata.labels.release': '.Values.monitoring.release' },
  // Helm must not read the templates of Prometheus in its texts.
  'PrometheusRule gateway': {
    'metadata.labels.release': '.Values.monitoring.release',
    spec: '.Files.Get "alerts.yaml" | fromYaml',
  },
}

/** Kinds that are rendered only if a value says so. */
const CONDITIONS = {
  Ingress: '.Values.ingress.enabled',
  ServiceMonitor: '.Values.monitoring.enabled',
  PrometheusRule: '.Values.monitoring.enabled',
  PriorityClass: '.Values.priorityClasses.create',
}

function podFields(app) {
  return {
    // A change of the settings restarts the pods, as another name of the map does with kustomize.
    'spec.template.metadata.annotations': 'dict "settings" (.Values.settings | toJson | sha256sum)',
    'spec.template.spec.imagePullSecrets': '.Values.images.pullSecrets',
    'spec.template.spec.containers.0.image': `.Values.images.${app}`,
    'spec.template.spec.containers.0.resources': `.Values.${app}.resources`,
    'spec.template.spec.volumes.store-secret.secret.secretName': '.Values.secrets.store',
    ...(app === 'controlPlane' && {
      'spec.template.spec.volumes.admin-secret.secret.secretName': '.Values.secrets.admin',
    }),
  }
}

function claimFields(volume) {
  return {
    'spec.resources.requests.storage': `.Values.storage.${volume}.size`,
    // null leaves the choice to the cluster; an empty name would ask for a volume without a class.
    'spec.storageClassName': `.Values.storage.${volume}.className | default nil`,
  }
}

function namespace(value) {
  return `dict "kubernetes.io/metadata.name" .Values.networkPolicy.${value}`
}

/** The objects of the overlay as kubectl builds them, without the suffix that kustomize gives the map of settings. */
export function builtObjects() {
  const overlay = join(root, 'deploy/kubernetes/overlays/production')
  const { status, stdout, stderr, error } = spawnSync('kubectl', ['kustomize', overlay], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`kubectl kustomize: ${error?.message ?? stderr}`)
  const text = stdout.replaceAll(/gateway-settings-[a-z0-9]{10}\b/g, 'gateway-settings')
  return parseAllDocuments(text).map((document) => document.toJS())
}

/** Writes the chart into the folder `out`. */
export function makeChart(out, version) {
  mkdirSync(join(out, 'templates'), { recursive: true })
  const facts = { apiVersion: 'v2', name: NAME, version, appVersion: version, type: 'application' }
  const description = 'Map asset gateway: tiles and vector downloads behind service tokens'
  writeFileSync(join(out, 'Chart.yaml'), stringify({ ...facts, description }))
  const values = readFileSync(join(import.meta.dirname, 'values.yaml'), 'utf8')
  writeFileSync(join(out, 'values.yaml'), values.replaceAll(':VERSION', `:${version}`))
  cpSync(join(root, 'deploy/monitoring/alerts.yaml'), join(out, 'alerts.yaml'))
  for (const object of builtObjects()) {
    const file = `${object.kind}-${object.metadata.name}.yaml`.toLowerCase()
    writeFileSync(join(out, 'templates', file), templateOf(object))
  }
}

function templateOf(object) {
  const fields = FIELDS[`${object.kind} ${object.metadata.name}`] ?? {}
  for (const [path, expression] of Object.entries(fields)) setField(object, path.split('.'), `@@${expression}@@`)
  // JSON is YAML, whatever the indentation.
  const text = stringify(object, { lineWidth: 0 }).replaceAll(/(["']?)@@(.*?)@@\1/g, (_, quote, expression) => {
    return `{{ ${quote === '"' ? JSON.parse(`"${expression}"`) : expression} | toJson }}`
  })
  const condition = CONDITIONS[object.kind]
  return condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`
}

/**
 * A step of the path is the name of a field, the place in a list, or the `name` of an element.
 * @param {any} object
 * @param {readonly string[]} path
 * @param {string} value
 */
function setField(object, path, value) {
  const [step = '', ...rest] = path
  const key = Array.isArray(object) && !/^\d+$/.test(step) ? object.findIndex(({ name }) => name === step) : step
  if (rest.length === 0) {
    // An environment variable is an element of a list, whose value is meant.
    if (Array.isArray(object) && object[key]?.value !== undefined) object[key].value = value
    else object[key] = value
    return
  }
  if (object[key] === undefined) throw new Error(`the overlay has no field ${step}`)
  setField(object[key], rest, value)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out] = process.argv.slice(2)
  if (out === undefined) {
    process.stderr.write('Usage: node deploy/helm/make.mjs OUT\n')
    process.exit(2)
  }
  makeChart(resolve(out), JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
}
