import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { ExportBody } from '@gateway/contracts/export.js'
import { insertAudit } from '@gateway/store/audit.js'
import { isOffered, readBasemap } from '@gateway/store/basemaps.js'
import type { Transaction } from '@gateway/store/connect.js'
import { insertExport, MAX_OPEN_EXPORTS, type StoredExport } from '@gateway/store/exports.js'
import { readTargets } from '@gateway/store/targets.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { traceToKeep } from '../platform/trace.js'

export type Requested = { readonly ok: true; readonly wanted: StoredExport } | Refusal

/** Queues an export. What does not exist is 404; what exists and cannot be exported is 400. */
export async function requestExport(tx: Transaction, body: ExportBody, admin: AdminIdentity): Promise<Requested> {
  const targetCode = body.target_code ?? null
  if (targetCode !== null) {
    const [target] = await readTargets(tx, targetCode)
    if (target === undefined) return refuse('not_found', 'there is no such target')
    if (target.kind === 'purge')
      return refuse('invalid_parameters', 'body.target_code: the target is a cache, which takes no data')
    if (!target.enabled)
      return refuse('invalid_parameters', 'body.target_code: the target is disabled; enable it first')
  }
  const basemap = await readBasemap(tx, body.basemap_code)
  if (basemap === null) return refuse('not_found', 'there is no such basemap')
  const label = body.version === CURRENT_VERSION ? basemap.defaultVersion : body.version
  const version = basemap.versions.find((one) => one.version === label)
  if (version === undefined) return refuse('not_found', 'the basemap has no such version')
  const not = (why: string) => refuse('invalid_parameters', why)
  if (!version.available) return not('body.version: the version is not available now')
  if (version.withdrawn || !isOffered(basemap)) return not('body.version: the version is withdrawn')
  if (version.tileMatrixSet !== 'WebMercatorQuad')
    return not(
      `body.version: its tiles lie in ${version.tileMatrixSet}, and PMTiles has numbers for Web Mercator alone`,
    )
  const zoomMin = Math.max(body.zoom_min ?? 0, version.minZoom)
  const zoomMax = Math.min(body.zoom_max ?? version.maxZoom, version.maxZoom)
  if (zoomMin > zoomMax) return not(`body.zoom_min: the version has zooms ${version.minZoom} to ${version.maxZoom}`)
  const wanted = await insertExport(tx, {
    basemapCode: basemap.code,
    version: version.version,
    bounds: body.bounds ?? null,
    zoomMin,
    zoomMax,
    targetCode,
    requestedBy: admin.actor,
    trace: traceToKeep(),
  })
  if (wanted === null)
    return refuse('too_many_requests', `${MAX_OPEN_EXPORTS} exports that have not ended are waiting already`)
  const detail = { name: basemap.name, basemap: basemap.code, version: version.version, target: targetCode }
  await insertAudit(tx, { ...admin, action: 'export.create', subject: wanted.id, detail })
  return { ok: true, wanted }
}
