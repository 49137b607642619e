import { DestinationGuard, type GuardSettings } from '../outgoing/guard.js'
import { openHttpStore } from './http-store.js'
import { normalLocation, parseLocation } from './location.js'
import type { ObjectStore, ObservedRequest } from './object-store.js'
import { openS3Store, type S3Settings } from './s3-store.js'

export type ObjectStoreSettings = S3Settings & GuardSettings

/**
 * Opens `s3://bucket/prefix` or an http(s) address; nothing is sent by that. Time-outs, retries and a circuit are the store's own: one that fails
 * leaves others alone. Where an http(s) address leads is guarded as deliveries are; S3_ENDPOINT is the operator's word. Throws `TypeError` for
 * another text: check it by `parseLocation`.
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
