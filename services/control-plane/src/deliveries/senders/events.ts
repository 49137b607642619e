import type { StoredBasemap, StoredVersion } from '@gateway/store/basemaps.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import { tileUrlTemplate } from '@gateway/tiles/tilejson.js'
import { toPushRecord, toVectorPushRecord } from '../../pushes/record.js'
import { toBasemap } from '../../resources/basemap.js'
import { toVector } from '../../resources/vector.js'

/**
 * What a receiver is told of a pushed version. `basemap` is the catalog's own description, with the TileJSON address of the current
 * version; `pushed_version` has the addresses of the one that was pushed, which need not be the current one.
 */
export function basemapPushed(claimed: ClaimedDelivery, stored: StoredBasemap, version: StoredVersion, now: number) {
  const { versions, ...basemap } = toBasemap(stored)
  const base = `${stored.tileBaseUrl}/tiles/${encodeURIComponent(stored.code)}`
  return {
    event: 'basemap.version.pushed',
    record: toPushRecord({ ...claimed, dueAt: null, updatedAt: new Date(now) }),
    basemap: {
      ...basemap,
      versions,
      tilejson_url: `${base}/tilejson.json`,
      pushed_version: {
        ...versions.find((v) => v.version === version.version),
        url_template: tileUrlTemplate(stored.tileBaseUrl, stored.code, version.version, version.format),
        tilejson_url: `${base}/${encodeURIComponent(version.version)}/tilejson.json`,
      },
    },
    delivered: new Date(now).toISOString(),
  }
}

export function vectorPushed(claimed: ClaimedDelivery, stored: StoredVector, vectorBaseUrl: string, now: number) {
  return {
    event: 'vector.pushed',
    record: toVectorPushRecord({ ...claimed, dueAt: null, updatedAt: new Date(now) }),
    vector: toVector(stored, vectorBaseUrl),
    delivered: new Date(now).toISOString(),
  }
}

/** The job as it ended, with how its callback stands at this attempt. */
export function jobFinished(claimed: ClaimedDelivery, now: number) {
  return {
    event: 'tile.job.finished',
    job: {
      ...claimed.body,
      callback_status: claimed.status,
      callback_attempts: claimed.attempts,
      callback_message: claimed.message,
    },
    delivered: new Date(now).toISOString(),
  }
}

/** Tries whether a target can be reached; a receiver that does not know the event may ignore it. */
export function targetTested(target: { readonly code: string; readonly name: string }, now: number) {
  return {
    event: 'target.test',
    target: { code: target.code, name: target.name },
    delivered: new Date(now).toISOString(),
  }
}
