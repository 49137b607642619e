import { DestinationGuard, type GuardSettings } from '../outgoing/guard.js'
import { ObjectRefused } from './errors.js'
import { guardedConnect } from './guarded-connect.js'
import { normalLocation, parseLocation } from './location.js'
import type { ObjectStore, ObservedRequest } from './object-store.js'
import { reader } from './reading.js'
import { Requester } from './requester.js'
import { openS3Store, type S3Settings } from './s3-store.js'
import { encodePath } from './signer.js'

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

/** Opens an http(s) directory, or one file. It is read-only and cannot be listed. */
export function openHttpStore(
  url: URL,
  place: string,
  guard: DestinationGuard,
  observe: (request: ObservedRequest) => void,
): ObjectStore {
  const requester = new Requester(url.origin, guardedConnect(guard, url.href), observe)
  const base = new URL(place).pathname
  const pathOf = (key: string) => (key === '' ? base : `${base === '/' ? '' : base}/${encodePath(key)}`)
  const readOnly = () => Promise.reject(new ObjectRefused('an http source can only be read'))
  return {
    url: place,
    ...reader(requester, (method, key) => ({ method, path: pathOf(key), headers: () => ({}) }), null),
    // biome-ignore lint/correctness/useYield: it has nothing to list
    async *list() {
      throw new ObjectRefused('an http source cannot be listed')
    },
    write: readOnly,
    prepareWrite: readOnly,
    remove: readOnly,
    get circuit() {
      return requester.circuit.state
    },
    close: () => requester.close(),
  }
}
