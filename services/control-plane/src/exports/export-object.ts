import type { Export } from '@gateway/contracts/export.js'
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
