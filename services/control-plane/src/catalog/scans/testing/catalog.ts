import type { NewVersion, StoredBasemap } from '@gateway/store/basemaps.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import type { BasemapDiff } from '../diff/diff-basemaps.js'
import type { VectorDiff } from '../diff/diff-vectors.js'
import { type FoundBasemaps, type FoundVector, noWarnings } from '../walk/found.js'

/** A version as found by a walk; tests distinguish versions by their fingerprints. */
export function foundVersion(version: string, fingerprint = 'f', fields: Partial<NewVersion> = {}): NewVersion {
  return {
    version,
    path: `/maps/${version}`,
    storage: 'xyz',
    format: 'png',
    extension: 'png',
    tileSize: 256,
    minZoom: 0,
    maxZoom: 4,
    bounds: [-180, -85, 180, 85],
    boundsDerived: false,
    rowsFromNorth: false,
    name: null,
    attribution: null,
    description: null,
    vectorLayers: null,
    tileMatrixSet: 'WebMercatorQuad',
    metadata: {},
    fingerprint,
    ...fields,
  }
}

/** The result of a walk, from versions by code. */
export function foundBasemaps(byCode: Readonly<Record<string, readonly NewVersion[]>>): FoundBasemaps {
  const basemaps = Object.entries(byCode).map(([code, versions]) => ({ code, name: null, versions }))
  return { basemaps, uncertain: [], warnings: noWarnings() }
}

/** The catalog after a diff was written, as the store's queries write it. */
export function afterBasemaps(
  known: readonly StoredBasemap[],
  diff: BasemapDiff,
  scan: { sourceCode: string; tileBaseUrl: string; at: Date },
): StoredBasemap[] {
  const byCode = new Map(known.map((basemap) => [basemap.code, basemap]))
  for (const change of diff.changes) {
    const before = byCode.get(change.code)
    const versions = new Map((before?.versions ?? []).map((version) => [version.version, version]))
    // The store assigns the revision, and a diff does not know it.
    for (const version of change.versions)
      versions.set(version.version, storedVersion(version.version, { ...version, scannedAt: scan.at }))
    for (const label of change.lost) {
      versions.set(label, { ...versions.get(label)!, available: false, scannedAt: scan.at })
    }
    byCode.set(change.code, {
      ...(before ?? emptyBasemap(change.code, scan.sourceCode)),
      ...(change.upsert ? { name: change.name, scannedName: change.name, tileBaseUrl: scan.tileBaseUrl } : {}),
      versions: [...versions.values()],
    })
  }
  return [...byCode.values()]
}

export function emptyBasemap(code: string, sourceCode: string): StoredBasemap {
  return storedBasemap(code, [], { tileBaseUrl: '', sourceCode, createdAt: new Date(0), updatedAt: new Date(0) })
}

/** A GeoJSON file as found by a walk. */
export function foundVector(relativePath: string, fingerprint = 'f'): FoundVector {
  return {
    relativePath,
    fileName: relativePath.split('/').at(-1) ?? '',
    name: relativePath,
    kind: 'geojson',
    path: `/vectors/${relativePath}`,
    size: 1,
    modifiedAt: new Date(0),
    fingerprint,
    facts: null,
  }
}

/** The catalog after a diff was written, as the store's queries write it. */
export function afterVectors(known: readonly StoredVector[], diff: VectorDiff): StoredVector[] {
  const byCode = new Map(known.map((vector) => [vector.code, vector]))
  for (const vector of diff.upserts) byCode.set(vector.code, storedVector(vector.code, vector))
  for (const code of diff.lostCodes) byCode.set(code, { ...byCode.get(code)!, available: false })
  return [...byCode.values()]
}
