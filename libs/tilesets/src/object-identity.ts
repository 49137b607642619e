import { createHash } from 'node:crypto'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'

/** Returns the identity of an object's content in letters that an ETag and a file name may contain; the counterpart of `fileIdentity`. */
export function objectIdentity({ etag, size }: ObjectFacts): string {
  return createHash('sha256').update(`${etag}\n${size}`).digest('hex').slice(0, 32)
}
