import { decodedFields } from '@gateway/contracts/decoded-fields.js'
import { type CodedMessage, storedMessage, textOf } from '@gateway/contracts/messages.js'
import { type AdminVector, UNKNOWN_FACTS, type Vector, type VectorFacts } from '@gateway/contracts/vector.js'
import type { StoredVector } from '@gateway/store/vectors.js'

/** Converts a vector to the form of the catalog. `vectorBaseUrl` is VECTOR_PUBLIC_BASE_URL, without a trailing slash. */
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
    revision: stored.revision,
    description: stored.facts?.description ?? null,
    tiles: tilesOf(stored),
    download_url: `${vectorBaseUrl}/vectors/${encodeURIComponent(stored.code)}/download`,
    ...factsOf(stored),
  }
}

/** Returns the facts about its vector tiles. */
function tilesOf({ tiles: { wanted, queued, message, messageCoded, build } }: StoredVector): Vector['tiles'] {
  const hasTiles = build !== null && build.maxZoom !== null
  const status = !wanted ? 'none' : queued ? 'building' : message !== '' ? 'failed' : hasTiles ? 'ready' : 'none'
  return {
    status,
    ...messageOf(status, message, messageCoded, build?.note),
    min_zoom: build?.minZoom ?? null,
    max_zoom: build?.maxZoom ?? null,
    built_at: hasTiles ? build.builtAt : null,
    left_out: { ...build?.leftOut },
  }
}

function messageOf(status: string, message: string, made: CodedMessage | null, note: CodedMessage | undefined) {
  if (status === 'failed') return storedMessage(message, made)
  return status === 'ready' && note !== undefined ? storedMessage(textOf(note), note) : storedMessage('')
}

/** Returns the facts that a scan read, in the encoding that an operator has set. */
function factsOf({ facts, setEncoding }: StoredVector): VectorFacts {
  const { raw_fields: raw, warnings: _, relation: __, description: ___, ...read } = { ...UNKNOWN_FACTS, ...facts }
  if (setEncoding === null) return read
  const fields = raw === undefined ? read.fields : decodedFields(raw, setEncoding)
  return { ...read, fields, encoding: setEncoding, encoding_source: 'operator' }
}

/** Converts a vector to the form of the admin API: with its path on disk, and whether it is offered. */
export function toAdminVector(stored: StoredVector, vectorBaseUrl: string): AdminVector {
  const { path, withdrawn, sourceEnabled, tiles } = stored
  return {
    ...toVector(stored, vectorBaseUrl),
    path,
    tile_min_zoom: tiles.setMinZoom,
    tile_max_zoom: tiles.setMaxZoom,
    tile_fields: tiles.fields === null ? null : [...tiles.fields],
    withdrawn,
    source_enabled: sourceEnabled,
  }
}
