import type { Role } from '@gateway/contracts/operator.js'
import { neededRole } from '../admin-gate/roles.js'
import type { Operation, Paths } from './document.js'
import { applyExample } from './examples/apply.js'

type Security = NonNullable<Operation['security']>

export const SECURITY_SCHEMES = {
  adminBasic: { type: 'http', scheme: 'basic', description: 'ADMIN_USER and ADMIN_PASSWORD' },
  adminBearer: { type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN' },
  adminSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'gateway_session',
    description: 'a session that began at `/admin/sign-in`; over https its name begins with `__Host-`',
  },
  serviceBearer: { type: 'http', scheme: 'bearer', bearerFormat: 'bmp_…', description: 'a service token' },
  serviceHeader: { type: 'apiKey', in: 'header', name: 'X-Access-Token', description: 'a service token' },
  signedAddress: {
    type: 'apiKey',
    in: 'query',
    name: 'sig',
    description: 'signature of an address from `signUrl`, with its `exp`; ignored if the request has a service token',
  },
  serviceQuery: { type: 'apiKey', in: 'query', name: 'token', description: 'a service token' },
  importBearer: { type: 'http', scheme: 'bearer', description: 'IMPORT_TOKEN' },
  importProof: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-proof',
    description: 'signature with IMPORT_TOKEN as the secret',
  },
  serviceQueryLong: { type: 'apiKey', in: 'query', name: 'access_token', description: 'a service token' },
} as const

const ADMIN: Security = [{ adminBasic: [] }, { adminBearer: [] }, { adminSession: [] }]
const IMPORT: Security = [{ importBearer: [] }, { importProof: [] }]
const SERVICE: Security = [{ serviceBearer: [] }, { serviceHeader: [] }, { serviceQuery: [] }, { serviceQueryLong: [] }]

const SIGNED: Security = [...SERVICE, { signedAddress: [] }]

const ERROR_WORDS: Readonly<Record<string, string>> = {
  400: 'Invalid parameters, named in the message; or different service tokens in one request',
  401: 'Credentials missing, wrong, expired or disabled; `WWW-Authenticate` names the expected ones',
  403:
    'Not allowed: scope missing or resource not granted, whether or not it exists; for administration, a remote caller, an unknown Host, a ' +
    'foreign page, or a role that does not suffice',
  404: 'No such resource',
  408: 'The body took more than 30 seconds to arrive',
  409:
    'A scan is running already. For a removal: a slice job needs the item, or slicing itself does. For a cancellation: the job has ended. For an ' +
    'import: the code belongs to another scan source',
  412:
    '`If-None-Match: *` was sent, and the code exists; nothing was changed. For a tile or a download: the condition `If-Match` or ' +
    '`If-Unmodified-Since` is false',
  413: 'The body is larger than 1 MiB, or larger than IMPORT_MAX_BYTES for an import',
  415:
    'The media type of the body is not supported: requests take application/json, an import takes multipart/form-data, and the import of a style ' +
    'also takes application/zip',
  416: 'No byte of the requested range exists',
  429:
    'The `rate_limit` of the token is reached, or too many different documents or lists of the catalog are being made at once. Other reasons: ' +
    'too many wrong credentials from this address, too many streams or imports at once, or too many slice jobs of one token that have not ended. ' +
    '`Retry-After` says when to retry',
  500: 'A fault of the service; its log has the details',
  503:
    'The store or the disk of a file does not respond or cannot be written, or the process shuts down. The message names the reason, and ' +
    '`Retry-After` says when to retry. If the request changes something, the message also says which of three cases applies. The first: ' +
    'nothing was changed and nothing will be, so the client may repeat the request. The second: the change was made, and only a later step ' +
    'failed. The third: the outcome is unknown, and the client must check before it repeats the request. A slice submission with a `code` may ' +
    'always be repeated with the same `code`',
}

/** Returns the components to which error responses of operations refer. */
export function errorResponses(): Record<string, unknown> {
  const forms = Object.entries(ERROR_CONTENT) as [ErrorForm, object][]
  return Object.fromEntries(
    Object.entries(ERROR_WORDS).flatMap(([status, description]) =>
      forms
        .filter(([form]) => isInForm(form, Number(status)))
        .map(([form, content]) => [componentOf(form, Number(status)), { description, content }]),
    ),
  )
}

/** Forms of errors: this service's own, that of ArcGIS REST, and those of OWS Common and of WMS for 400 and 404. */
type ErrorForm = 'own' | 'Esri' | 'Ows' | 'Wms'
const ERROR_CONTENT: Readonly<Record<ErrorForm, object>> = {
  own: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  Esri: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            required: ['code', 'message', 'details'],
            properties: {
              code: { type: 'integer', description: 'the status, or 498 or 499 for 401' },
              message: { type: 'string' },
              details: { type: 'array', items: { type: 'string' }, maxItems: 0 },
            },
          },
        },
      },
    },
  },
  Ows: { 'application/xml': { schema: { type: 'string', description: 'an ExceptionReport of OWS Common 1.1.0' } } },
  Wms: {
    'text/xml': { schema: { type: 'string', description: 'a ServiceExceptionReport of WMS 1.3.0' } },
    'application/vnd.ogc.se_xml': { schema: { type: 'string', description: 'a ServiceExceptionReport of WMS 1.1.1' } },
  },
}

/** Statuses of errors of the data plane. */
const EDGE_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 410, 412, 416, 429, 500, 503])

/** Statuses of conditional and partial downloads, which ArcGIS REST does not have. */
const OF_DOWNLOADS: ReadonlySet<number> = new Set([412, 416])

function isInForm(form: ErrorForm, status: number): boolean {
  if (form === 'own') return true
  return form === 'Esri' ? EDGE_STATUSES.has(status) && !OF_DOWNLOADS.has(status) : status === 400 || status === 404
}

function componentOf(form: ErrorForm, status: number): string {
  return form !== 'own' && isInForm(form, status) ? `${form}Error${status}` : `Error${status}`
}

/** The common parts of all operations under a path, so that no feature repeats them. */
interface Convention {
  readonly pattern: RegExp
  readonly tag: string
  readonly security: Security
  readonly errors: readonly number[]
  readonly form?: ErrorForm
}

const SERVICE_ERRORS = [400, 401, 403, 429, 500, 503]

/** Tags, in the order of the document. */
export const TAGS = [
  {
    name: 'Tiles and downloads',
    description: 'Tiles, TileJSON, archives and vector files, for service tokens with the scope `read`',
  },
  {
    name: 'Standard services',
    description:
      'WMTS 1.0.0, WMS 1.3.0 and 1.1.1, OGC API – Tiles 1.0 and TMS 1.0.0, and the requests of Esri and Tianditu, for service tokens with the scope `read`',
  },
  { name: 'Catalog', description: 'Basemaps, vectors and styles that a service token with the scope `read` may read' },
  { name: 'Slicing', description: 'Slice jobs, for service tokens with the scope `slice`' },
  { name: 'Imports', description: 'The receiver of pushes from another gateway' },
  { name: 'Admin: catalog', description: 'Scan sources, basemaps and vectors' },
  { name: 'Admin: tokens', description: 'Service tokens, and signed URLs' },
  { name: 'Admin: push', description: 'Targets, pushes, exports, and the records of all deliveries' },
  { name: 'Admin: slicing', description: 'Slice jobs under admin credentials, their logs and source images' },
  {
    name: 'Admin: state',
    description: 'Data for the console: the signed-in person, edges, audit, events, traffic, settings',
  },
  { name: 'System', description: 'Probes, metrics and version, without credentials' },
  { name: 'Events', description: 'Requests that this service sends' },
]

/** The first matching pattern applies. */
const CONVENTIONS: readonly Convention[] = [
  admin('Admin: tokens', /^\/api\/v1\/admin\/(tokens|preview-token|signed-urls|signing-keys)/),
  admin(
    'Admin: push',
    /^\/api\/v1\/admin\/(targets|pushes|vector-pushes|push-records|vector-push-records|callback-records|purge-records|event-records|notification-rules|notification-records|exports)/,
  ),
  admin('Admin: slicing', /^\/api\/v1\/admin\/slice/),
  admin('Admin: state', /^\/api\/v1\/admin\/(edges|audit|events|dashboard|settings|session)/),
  admin('Admin: catalog', /^\/api\/v1\/admin\//),
  { pattern: /^\/api\/v1\/catalog\//, tag: 'Catalog', security: SERVICE, errors: SERVICE_ERRORS },
  { pattern: /^\/api\/v1\/slice\//, tag: 'Slicing', security: SERVICE, errors: SERVICE_ERRORS },
  { pattern: /^\/api\/v1\/import$/, tag: 'Imports', security: IMPORT, errors: [500, 503] },
  { pattern: /^\/arcgis\/rest\/info$/, tag: 'Standard services', security: [], errors: [400, 500, 503] },
  {
    pattern: /^\/(ogc|tms)(\/|$)/,
    tag: 'Standard services',
    security: SERVICE,
    errors: [404, ...SERVICE_ERRORS],
  },
  {
    pattern: /^\/arcgis\//,
    tag: 'Standard services',
    security: SERVICE,
    errors: [404, ...SERVICE_ERRORS],
    form: 'Esri',
  },
  {
    pattern: /^\/(wmts|tianditu)(\/|$)/,
    tag: 'Standard services',
    security: SERVICE,
    errors: [404, ...SERVICE_ERRORS],
    form: 'Ows',
  },
  {
    pattern: /^\/wms$/,
    tag: 'Standard services',
    security: SERVICE,
    errors: [404, ...SERVICE_ERRORS],
    form: 'Wms',
  },
  {
    pattern: /^\/(styles|fonts)(\/|$)/,
    tag: 'Tiles and downloads',
    security: SIGNED,
    errors: SERVICE_ERRORS,
  },
  {
    pattern: /^\/(tiles|archives)\//,
    tag: 'Tiles and downloads',
    security: SIGNED,
    errors: [404, ...SERVICE_ERRORS],
  },
  { pattern: /^\/api\/v1\/forward-auth$/, tag: 'Tiles and downloads', security: SIGNED, errors: SERVICE_ERRORS },
  {
    pattern: /^\/(vectors|geojson|shp)\//,
    tag: 'Tiles and downloads',
    security: SERVICE,
    errors: [404, ...SERVICE_ERRORS],
  },
  { pattern: /^\//, tag: 'System', security: [], errors: [400, 500, 503] },
]

function admin(tag: string, pattern: RegExp): Convention {
  return { pattern, tag, security: ADMIN, errors: [401, 403, 429, 500, 503] }
}

/** Errors of single operations beyond those common to their path. */
const OWN_ERRORS: Readonly<Record<string, readonly number[]>> = {
  'post /api/v1/admin/scan-sources': [412],
  'post /api/v1/admin/targets': [412],
  'post /api/v1/admin/scan-sources/{code}/run': [409],
  'post /api/v1/admin/vectors/rescan': [400, 409],
  'delete /api/v1/admin/basemaps/{code}': [409],
  'delete /api/v1/admin/basemaps/{code}/versions/{version}': [409],
  'delete /api/v1/admin/scan-sources/{code}': [409],
  'delete /api/v1/admin/tokens/{id}': [409],
  'post /api/v1/admin/tokens/{id}/rotate': [409],
  'post /api/v1/admin/pushes': [404],
  'post /api/v1/admin/vector-pushes': [404],
  'post /api/v1/admin/preview-token': [404],
  'post /api/v1/admin/preview-links': [404],
  'post /api/v1/admin/exports': [404],
  'post /api/v1/admin/signed-urls': [404],
  'post /api/v1/catalog/signed-urls': [404],
  'post /api/v1/slice/jobs': [429],
  'post /api/v1/admin/slice/jobs/{id}/cancel': [409],
  'get /api/v1/admin/slice/files': [404],
  'post /api/v1/admin/styles/import': [409, 412, 429],
  'put /api/v1/admin/uploads/{id}/content': [409],
  'post /api/v1/admin/uploads/{id}/import': [409],
  'delete /api/v1/admin/uploads/{id}': [409],
  'post /api/v1/import': [400, 401, 404, 409, 413, 415, 429],
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Adds tags, security, common error responses and examples to every operation of the document. */
export function applyConventions(paths: Paths): void {
  for (const [path, item] of Object.entries(paths)) {
    const convention = CONVENTIONS.find(({ pattern }) => pattern.test(path)) as Convention
    for (const method of METHODS) {
      const operation = item[method]
      if (operation !== undefined) applyTo(operation, convention, method, path)
    }
  }
}

function applyTo(operation: Operation, convention: Convention, method: string, path: string): void {
  operation.tags = [convention.tag]
  operation.security = convention.security
  if (convention.security === ADMIN) describeRole(operation, neededRole(method.toUpperCase(), path))
  const errors = new Set([...convention.errors, ...(OWN_ERRORS[`${method} ${path}`] ?? [])])
  if (operation.requestBody !== undefined) for (const status of [400, 408, 413, 415]) errors.add(status)
  if ((operation.parameters ?? []).length > 0) errors.add(400)
  if (path.includes('{')) errors.add(404)
  const responses = operation.responses ?? {}
  const hasTag =
    convention.tag === 'Catalog' || convention.tag === 'Standard services' || path.endsWith('/tilejson.json')
  if (hasTag && method === 'get') responses[304] ??= { description: 'Not modified' }
  for (const response of Object.values(responses)) {
    if (response.description === GENERATED_DESCRIPTION) response.description = 'Done'
  }
  const { form = 'own' } = convention
  for (const status of errors) responses[status] ??= { $ref: `#/components/responses/${componentOf(form, status)}` }
  operation.responses = responses
  applyExample(operation)
}

function describeRole(operation: Operation, role: Role): void {
  operation['x-required-role'] = role
  operation.description = `${operation.description ?? ''} Needs the role \`${role}\`.`.trim()
}

/** The text that the generator writes if a route has no description. */
const GENERATED_DESCRIPTION = 'Default Response'
