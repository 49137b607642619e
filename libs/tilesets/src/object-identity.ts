import { createHash } from 'node:crypto'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'

/** Names the content of an object in letters that an ETag and a file name may have; `fileIdentity` for what is not a file. */
export function objectIdentity({ etag, size }: ObjectFacts): string {
  return createHash('sha256').update(`${etag}\n${size}`).digest('hex').slice(0, 32)
}
