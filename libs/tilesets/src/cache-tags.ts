import { createHash } from 'node:crypto'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'

/**
 * Returns the cache tags of a version's tiles, by which caches in front are purged: one for the basemap, and one for the version.
 * Characters of labels that separate tags in these headers are percent-encoded.
 */
export function cacheTags(code: string, version: string | null): readonly string[] {
  const basemap = encodeURIComponent(code)
  const whole = `b-${basemap}`
  return version === null ? [whole] : [whole, `v-${basemap}-${encodeURIComponent(version)}`]
}

/** Returns the two headers that common CDNs read: `Cache-Tag` separates tags by commas, `Surrogate-Key` by blanks. */
export function cacheTagHeaders(tags: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return [
    ['Cache-Tag', tags.join(',')],
    ['Surrogate-Key', tags.join(' ')],
  ]
}

/** Returns the identity of an object's content in letters that an ETag and a file name may contain; the counterpart of `fileIdentity`. */
export function objectIdentity({ etag, size }: ObjectFacts): string {
  return createHash('sha256').update(`${etag}\n${size}`).digest('hex').slice(0, 32)
}
