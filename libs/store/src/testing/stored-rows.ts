import type { StoredBasemap, StoredVersion } from '../basemaps.js'
import type { StoredVector } from '../vectors.js'

const THEN = new Date('2026-01-01T00:00:00Z')

/** Returns a version in the form of the store, for tests. */
export function storedVersion(version: string, more: Partial<StoredVersion> = {}): StoredVersion {
  return {
    version,
    storage: 'xyz',
    rowsFromNorth: false,
    format: 'png',
    extension: 'png',
    tileSize: 256,
    minZoom: 0,
    maxZoom: 4,
    bounds: null,
    boundsDerived: false,
    name: null,
    attribution: null,
    description: null,
    vectorLayers: null,
    tileMatrixSet: 'WebMercatorQuad',
    metadata: {},
    path: `/maps/${version}`,
    fingerprint: `fingerprint of ${version}`,
    revision: 1,
    available: true,
    withdrawn: false,
    scannedAt: THEN,
    overrides: {},
    scanned: null,
    ...more,
  }
}

export function storedBasemap(
  code: string,
  versions: readonly StoredVersion[],
  more: Partial<StoredBasemap> = {},
): StoredBasemap {
  return {
    code,
    name: code,
    scannedName: code,
    setName: null,
    description: null,
    tags: [],
    owner: null,
    setDefault: null,
    defaultVersion: versions.at(-1)?.version ?? null,
    versions,
    tileBaseUrl: 'http://localhost',
    sourceCode: 'source',
    sourcePath: '/maps',
    sourceEnabled: true,
    withdrawn: false,
    cachePolicy: 'interface',
    sharedMaxAge: null,
    createdAt: THEN,
    updatedAt: THEN,
    ...more,
  }
}

export function storedVector(code: string, more: Partial<StoredVector> = {}): StoredVector {
  return {
    code,
    name: code,
    kind: 'geojson',
    relativePath: `${code}.geojson`,
    fileName: `${code}.geojson`,
    path: `/vectors/${code}.geojson`,
    size: 2,
    modifiedAt: THEN,
    fingerprint: 'f',
    available: true,
    sourceCode: 'source',
    sourcePath: '/vectors',
    sourceEnabled: true,
    withdrawn: false,
    facts: null,
    setEncoding: null,
    revision: 1,
    tiles: {
      wanted: true,
      queued: false,
      message: '',
      messageCoded: null,
      setMinZoom: null,
      setMaxZoom: null,
      fields: null,
      build: null,
      buildRevision: null,
    },
    ...more,
  }
}
