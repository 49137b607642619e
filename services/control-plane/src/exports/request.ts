import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type ExportBody, FORMATS_IN_ARCHIVES } from '@gateway/contracts/export.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { isOffered, readBasemap, type StoredBasemap, type StoredVersion } from '@gateway/store/basemaps.js'
import type { Transaction } from '@gateway/store/connect.js'
import { insertExport, MAX_OPEN_EXPORTS, type StoredExport, willBePublished } from '@gateway/store/exports.js'
import { readTargets } from '@gateway/store/targets.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { traceToKeep } from '../platform/trace.js'

export type Requested = { readonly ok: true; readonly wanted: StoredExport } | Refusal

/** Queues an export. Unknown resources return 404, and existing ones that cannot be exported return 400. */
export async function requestExport(tx: Transaction, body: ExportBody, admin: AdminIdentity): Promise<Requested> {
  const targetCode = body.target_code ?? null
  if (targetCode !== null) {
    const [target] = await readTargets(tx, targetCode)
    if (target === undefined) return refuse('not_found', coded('target_not_found_for_this'))
    if (target.kind === 'purge') return refuse('invalid_parameters', coded('target_takes_no_data'))
    if (!target.enabled) return refuse('invalid_parameters', coded('target_disabled'))
  }
  const basemap = await readBasemap(tx, body.basemap_code)
  if (basemap === null) return refuse('not_found', coded('basemap_not_found_for_this'))
  const label = body.version === CURRENT_VERSION ? basemap.defaultVersion : body.version
  const version = basemap.versions.find((one) => one.version === label)
  if (version === undefined) return refuse('not_found', coded('version_not_of_the_basemap'))
  const not = (why: CodedMessage) => refuse('invalid_parameters', why)
  if (!version.available) return not(coded('version_unavailable'))
  if (version.review) return not(coded('version_held'))
  if (version.withdrawn || !isOffered(basemap)) return not(coded('version_withdrawn'))
  if (version.tileMatrixSet !== 'WebMercatorQuad') return not(coded('export_grid', { grid: version.tileMatrixSet }))
  if (!FORMATS_IN_ARCHIVES[body.format].includes(version.format))
    return not(coded('export_tiles_format', { format: body.format, tiles: version.format }))
  const cannot = await notPublished(tx, basemap, body, version)
  if (cannot !== null) return cannot
  const older = body.from_version === undefined ? null : olderVersion(basemap, body, version)
  if (older !== null && 'ok' in older) return older
  // Zooms that only the older version has were removed.
  const minZoom = Math.min(version.minZoom, older?.minZoom ?? version.minZoom)
  const maxZoom = Math.max(version.maxZoom, older?.maxZoom ?? version.maxZoom)
  const zoomMin = Math.max(body.zoom_min ?? 0, minZoom)
  const zoomMax = Math.min(body.zoom_max ?? maxZoom, maxZoom)
  if (zoomMin > zoomMax) return not(coded('export_zooms', { zoom_min: minZoom, zoom_max: maxZoom }))
  const wanted = await insertExport(tx, {
    basemapCode: basemap.code,
    version: version.version,
    fromVersion: older?.version ?? null,
    format: body.format,
    bounds: body.bounds ?? null,
    zoomMin,
    zoomMax,
    targetCode,
    publishAs: body.publish_as ?? null,
    requestedBy: admin.actor,
    trace: traceToKeep(),
  })
  if (wanted === null) return refuse('too_many_requests', coded('exports_full', { limit: MAX_OPEN_EXPORTS }))
  const detail = {
    name: basemap.name,
    basemap: basemap.code,
    version: version.version,
    target: targetCode,
    format: body.format,
    ...(older && { from_version: older.version }),
    ...(body.publish_as && { publish_as: body.publish_as }),
  }
  await insertAudit(tx, { ...admin, action: 'export.create', subject: wanted.id, detail })
  return { ok: true, wanted }
}

/** Returns why an export cannot be published as it asks; null: it can, or need not. */
async function notPublished(
  tx: Transaction,
  basemap: StoredBasemap,
  { publish_as: label, format, from_version }: ExportBody,
  { storage, version }: StoredVersion,
): Promise<Refusal | null> {
  if (label === undefined) return null
  if (storage !== 'upstream')
    return refuse('invalid_parameters', coded('export_publish_no_service', { name: basemap.code, version }))
  if (format !== 'pmtiles' || from_version !== undefined)
    return refuse('invalid_parameters', coded('export_publish_format'))
  const isTaken = basemap.versions.some((one) => one.version === label)
  if (isTaken || (await willBePublished(tx, basemap.code, label)))
    return refuse('conflict', coded('export_publish_taken', { version: label }))
  return null
}

/** Returns the base version of a delta, which must have the same grid and format. A delta has no target, since it would count as the version there. */
function olderVersion(basemap: StoredBasemap, body: ExportBody, version: StoredVersion): StoredVersion | Refusal {
  const label = body.from_version === CURRENT_VERSION ? basemap.defaultVersion : body.from_version
  const older = basemap.versions.find((one) => one.version === label)
  if (older === undefined) return refuse('not_found', coded('version_not_of_the_basemap'))
  const not = (why: CodedMessage) => refuse('invalid_parameters', why)
  if (body.target_code !== undefined) return not(coded('export_delta_target'))
  if (body.format !== 'pmtiles') return not(coded('export_delta_format'))
  if (older.version === version.version) return not(coded('export_delta_same'))
  if (!older.available) return not(coded('version_unavailable'))
  if (older.review) return not(coded('version_held'))
  if (older.withdrawn) return not(coded('version_withdrawn'))
  if (older.tileMatrixSet !== version.tileMatrixSet || older.format !== version.format)
    return not(coded('export_delta_other'))
  return older
}
