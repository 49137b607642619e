import type { Operation, Paths } from './document.js'

type Security = NonNullable<Operation['security']>

export const SECURITY_SCHEMES = {
  adminBasic: { type: 'http', scheme: 'basic', description: 'ADMIN_USER and ADMIN_PASSWORD' },
  adminBearer: { type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN' },
  serviceBearer: { type: 'http', scheme: 'bearer', bearerFormat: 'bmp_…', description: 'a service token' },
  serviceHeader: { type: 'apiKey', in: 'header', name: 'X-Access-Token', description: 'a service token' },
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

const ADMIN: Security = [{ adminBasic: [] }, { adminBearer: [] }]
const IMPORT: Security = [{ importBearer: [] }, { importProof: [] }]
const SERVICE: Security = [{ serviceBearer: [] }, { serviceHeader: [] }, { serviceQuery: [] }, { serviceQueryLong: [] }]

const ERROR_WORDS: Readonly<Record<string, string>> = {
  400: 'Invalid parameters, named in the message; or different service tokens in one request',
  401: 'Credentials missing, wrong, expired or disabled; `WWW-Authenticate` says what is expected',
  403: 'Not allowed: scope missing or resource not granted, whether or not it exists; for administration, a remote caller, an unknown Host or a foreign page',
  404: 'No such resource',
  405: 'The address has no such method; `Allow` lists those it has',
  409: 'A scan is running already; of a cancellation, that the job has ended; of an import, that the code belongs to another scan source',
  413: 'The body is larger than 1 MiB; for an import, than IMPORT_MAX_BYTES',
  415: 'The body is not application/json; for an import, not multipart/form-data',
  416: 'No byte of the requested range exists',
  429: 'Too many wrong credentials from this address, or too many streams or imports at once; `Retry-After` says when to come back',
  500: 'A fault of the service; its log tells more',
  503: 'The store or the disk of a file does not answer, or the process shuts down; `Retry-After` says when to come back',
}

/** Components to which the operations' error answers refer. */
export function errorResponses(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ERROR_WORDS).map(([status, description]) => [
      `Error${status}`,
      { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
    ]),
  )
}

/** What all operations under a path have in common, so that no feature repeats it. */
interface Convention {
  readonly pattern: RegExp
  readonly tag: string
  readonly security: Security
  readonly errors: readonly number[]
}

const CONVENTIONS: readonly Convention[] = [
  {
    pattern: /^\/api\/v1\/admin\/(tokens|preview-token)/,
    tag: 'Admin: tokens',
    security: ADMIN,
    errors: [401, 403, 429, 500, 503],
  },
  {
    pattern: /^\/api\/v1\/admin\/(targets|pushes|vector-pushes|push-records|vector-push-records|callback-records)/,
    tag: 'Admin: push',
    security: ADMIN,
    errors: [401, 403, 429, 500, 503],
  },
  { pattern: /^\/api\/v1\/admin\/slice/, tag: 'Admin: slicing', security: ADMIN, errors: [401, 403, 429, 500, 503] },
  {
    pattern: /^\/api\/v1\/admin\/(edges|audit|events|dashboard|settings)/,
    tag: 'Admin: state',
    security: ADMIN,
    errors: [401, 403, 429, 500, 503],
  },
  { pattern: /^\/api\/v1\/admin\//, tag: 'Admin: catalog', security: ADMIN, errors: [401, 403, 429, 500, 503] },
  { pattern: /^\/api\/v1\/catalog\//, tag: 'Catalog', security: SERVICE, errors: [400, 401, 403, 500, 503] },
  { pattern: /^\/api\/v1\/slice\//, tag: 'Slicing', security: SERVICE, errors: [400, 401, 403, 500, 503] },
  { pattern: /^\/api\/v1\/import$/, tag: 'Imports', security: IMPORT, errors: [500, 503] },
  {
    pattern: /^\/(tiles|vectors|geojson|shp)\//,
    tag: 'Tiles and downloads',
    security: SERVICE,
    errors: [400, 401, 403, 404, 500, 503],
  },
  { pattern: /^\//, tag: 'System', security: [], errors: [500, 503] },
]

/** What single operations may answer beyond what all of their path may. */
const OWN_ERRORS: Readonly<Record<string, readonly number[]>> = {
  'post /api/v1/admin/scan-sources/{code}/run': [409],
  'post /api/v1/admin/vectors/rescan': [409],
  'post /api/v1/admin/pushes': [404],
  'post /api/v1/admin/vector-pushes': [404],
  'post /api/v1/admin/preview-token': [404],
  'post /api/v1/admin/slice/jobs/{id}/cancel': [409],
  'get /api/v1/admin/slice/files': [404],
  'post /api/v1/import': [400, 401, 404, 409, 413, 415, 429],
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Adds tags, security, common error answers and operation ids to every operation of the document. */
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
  operation.operationId ??= operationId(method, path)
  const errors = new Set([...convention.errors, ...(OWN_ERRORS[`${method} ${path}`] ?? [])])
  if (operation.requestBody !== undefined) for (const status of [400, 413, 415]) errors.add(status)
  if ((operation.parameters ?? []).length > 0) errors.add(400)
  if (path.includes('{')) errors.add(404)
  const responses = operation.responses ?? {}
  for (const response of Object.values(responses)) {
    if (response.description === GENERATED_DESCRIPTION) response.description = 'Done'
  }
  for (const status of errors) responses[status] ??= { $ref: `#/components/responses/Error${status}` }
  operation.responses = responses
}

/** What the generator writes where a route says nothing. */
const GENERATED_DESCRIPTION = 'Default Response'

/** `GET /api/v1/admin/tokens/{id}` becomes `getAdminTokensById`. */
function operationId(method: string, path: string): string {
  const words = path
    .replace(/^\/api\/v1/, '')
    .replaceAll(/\{(\w+)\}/g, 'by-$1')
    .split(/[^0-9A-Za-z]+/)
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
