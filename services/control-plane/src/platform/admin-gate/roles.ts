import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { hasRole, type Role } from '@gateway/contracts/operator.js'

/** Changes that operators may make: scan, slice, push, switch defaults and withdraw. Written like paths of the OpenAPI document, below `/api/v1/admin`. */
const OF_OPERATORS: ReadonlySet<string> = new Set([
  'POST /scan-sources/{code}/run',
  'POST /scan-sources/{code}/queue',
  'POST /scan-sources/{code}/cancel',
  'POST /vectors/rescan',
  'POST /health/check',
  'POST /basemaps/{code}/default-version',
  'DELETE /basemaps/{code}/default-switch',
  'PATCH /basemaps/{code}',
  'PATCH /basemaps/{code}/versions/{version}',
  'POST /basemaps/{code}/versions/{version}/approve',
  'POST /basemaps/{code}/versions/{version}/reject',
  'PATCH /vectors/{code}',
  'PATCH /styles/{code}',
  'POST /styles/import',
  'POST /uploads',
  'GET /uploads/{id}',
  'PUT /uploads/{id}/content',
  'POST /uploads/{id}/import',
  'DELETE /uploads/{id}',
  'POST /pushes',
  'POST /vector-pushes',
  'POST /push-records/{id}/retry',
  'POST /push-records/{id}/cancel',
  'POST /push-records/{id}/acknowledge',
  'POST /vector-push-records/{id}/retry',
  'POST /vector-push-records/{id}/cancel',
  'POST /vector-push-records/{id}/acknowledge',
  'POST /callback-records/{id}/retry',
  'POST /purge-records/{id}/retry',
  'POST /purge-records/{id}/cancel',
  'POST /purge-records/{id}/acknowledge',
  'POST /notification-records/{id}/retry',
  'POST /notification-records/{id}/cancel',
  'POST /notification-records/{id}/acknowledge',
  'POST /event-records/{id}/retry',
  'POST /event-records/{id}/cancel',
  'POST /event-records/{id}/acknowledge',
  'POST /callback-records/{id}/cancel',
  'POST /callback-records/{id}/acknowledge',
  'POST /basemaps/bulk',
  'POST /vectors/bulk',
  'POST /styles/bulk',
  'POST /push-records/bulk',
  'POST /vector-push-records/bulk',
  'POST /slice/jobs/bulk',
  'POST /exports',
  'POST /seeds',
  'POST /seeds/estimate',
  'POST /seeds/{id}/cancel',
  'DELETE /exports/{id}',
  'POST /slice/jobs',
  'POST /slice/jobs/{id}/cancel',
  'POST /slice/jobs/{id}/acknowledge',
  'POST /slice/estimate',
  // It lists directories of this machine, and only a submission needs that.
  'GET /slice/files',
])

/** Requests of viewers that use POST or DELETE but change nothing that others see. */
const OF_VIEWERS: ReadonlySet<string> = new Set(['POST /preview-token', 'DELETE /session'])

const PREFIX = '/api/v1/admin'

/**
 * Returns the role that an admin route needs. HEAD needs the role of GET, since lengths reveal content. Reading needs `viewer`. A change that
 * is not listed above needs `admin`, so that a forgotten route is closed.
 *
 * @param route its path, with parameters as `:code` or `{code}`
 */
export function neededRole(method: string, route: string): Role {
  const path = route.replace(/:(\w+)/g, '{$1}')
  const asked = method === 'HEAD' ? 'GET' : method
  const operation = `${asked} ${path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path}`
  if (OF_OPERATORS.has(operation)) return 'operator'
  return asked === 'GET' || OF_VIEWERS.has(operation) ? 'viewer' : 'admin'
}

/** Returns null if the role suffices. */
export function refusalOfRole(role: Role, needed: Role): Refusal | null {
  if (hasRole(role, needed)) return null
  return refuse('role_missing', coded('role_missing', { needed, role }))
}
