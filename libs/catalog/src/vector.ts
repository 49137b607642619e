import { type AdminVector, UNKNOWN_FACTS, type Vector } from '@gateway/contracts/vector.js'
import type { StoredVector } from '@gateway/store/vectors.js'

/** The vector as the catalog answers it. `vectorBaseUrl` is VECTOR_PUBLIC_BASE_URL, without a trailing slash. */
export function toVector(stored: StoredVector, vectorBaseUrl: string): Vector {
  return {
    code: stored.code,
    name: stored.name,
    kind: stored.kind,
    relative_path: stored.relativePath,
    file_name: stored.fileName,
    size: stored.size,
    modified_at: stored.modifiedAt.toISOString(),
    available: stored.available,
    source_code: stored.sourceCode,
    download_url: `${vectorBaseUrl}/vectors/${encodeURIComponent(stored.code)}/download`,
    ...(stored.facts ?? UNKNOWN_FACTS),
  }
}

/** The vector as administrators see it: with its place on disk, and whether it is offered. */
export function toAdminVector(stored: StoredVector, vectorBaseUrl: string): AdminVector {
  const { path, withdrawn, sourceEnabled } = stored
  return { ...toVector(stored, vectorBaseUrl), path, withdrawn, source_enabled: sourceEnabled }
}
