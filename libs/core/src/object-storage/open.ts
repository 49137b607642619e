import { DestinationGuard, type GuardSettings } from '../outgoing/guard.js'
import { openHttpStore } from './http-store.js'
import { normalLocation, parseLocation } from './location.js'
import type { ObjectStore, ObservedRequest } from './object-store.js'
import { openS3Store, type S3Settings } from './s3-store.js'

export type ObjectStoreSettings = S3Settings & GuardSettings

/**
 * Opens `s3://bucket/prefix` or an http(s) URL, without sending anything. Each store has its own timeouts, retries and circuit breaker, so a
 * failing one does not affect others. Destinations of http(s) URLs are guarded like those of deliveries; S3_ENDPOINT is trusted. Throws
 * `TypeError` for other text: check it by `parseLocation`.
 * @param observe called for every request
 */
export function openObjectStore(
  url: string,
  settings: ObjectStoreSettings,
  observe: (request: ObservedRequest) => void = () => {},
): ObjectStore {
  const location = parseLocation(url)
  if (typeof location === 'string') throw new TypeError(location)
  const place = normalLocation(url)
  if (location.kind === 's3') return openS3Store(location, place, settings, observe)
  return openHttpStore(location.url, place, new DestinationGuard(settings), observe)
}
