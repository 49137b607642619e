import type { Archive, Export } from '@gateway/contracts/export.js'
import { storedMessage } from '@gateway/contracts/messages.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { StoredExport } from '@gateway/store/exports.js'

const DAY_MS = 86_400_000

export function toExport(stored: StoredExport, { apiBaseUrl, exportRetentionDays }: Settings): Export {
  const { finishedAt } = stored
  const expiresAt = finishedAt === null ? null : new Date(finishedAt.getTime() + exportRetentionDays * DAY_MS)
  return {
    id: stored.id,
    basemap_code: stored.basemapCode,
    version: stored.version,
    from_version: stored.fromVersion,
    format: stored.format,
    bounds: stored.bounds,
    zoom_min: stored.zoomMin,
    zoom_max: stored.zoomMax,
    target_code: stored.targetCode,
    push_id: stored.pushId,
    publish_as: stored.publishAs,
    status: stored.status,
    ...storedMessage(stored.message, stored.messageCoded),
    progress: Math.round(stored.progress * 10) / 10,
    tiles: stored.tiles,
    bytes: stored.bytes,
    download_url: stored.status === 'succeeded' ? `${apiBaseUrl}/api/v1/admin/exports/${stored.id}/file` : null,
    requested_by: stored.requestedBy,
    created_at: stored.createdAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
    expires_at: expiresAt?.toISOString() ?? null,
  }
}

/** An export as devices see it. */
export function toArchive(stored: StoredExport, settings: Settings): Archive {
  const { id, version, from_version, created_at, expires_at } = toExport(stored, settings)
  const path = `/api/v1/catalog/basemaps/${encodeURIComponent(stored.basemapCode)}/archives/${id}`
  const { tiles, bytes } = stored
  const size = { tiles: tiles ?? 0, bytes: bytes ?? 0 }
  return { id, version, from_version, ...size, download_url: `${settings.apiBaseUrl}${path}`, created_at, expires_at }
}
