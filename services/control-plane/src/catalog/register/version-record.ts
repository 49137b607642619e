import { MAX_LABEL_LENGTH } from '@gateway/contracts/common.js'
import { cleanJson, cleanText } from '@gateway/contracts/storable-text.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'

/** Builds the stored form of a probed version. */
export function versionRecord(version: string, path: string, probe: TileSetProbe): NewVersion {
  return {
    version,
    path,
    storage: probe.storage,
    rowsFromNorth: probe.rowsFromNorth,
    format: probe.format,
    formats: probe.formats ?? null,
    extension: probe.extension,
    tileSize: probe.tileSize,
    minZoom: probe.minZoom,
    maxZoom: probe.maxZoom,
    bounds: probe.bounds,
    boundsDerived: probe.boundsDerived,
    name: nameOf(probe),
    attribution: probe.attribution === null ? null : cleanText(probe.attribution),
    description: probe.description === null ? null : cleanText(probe.description),
    vectorLayers: probe.vectorLayers === null ? null : cleanJson(probe.vectorLayers),
    tileMatrixSet: probe.tileMatrixSet,
    tileMatrices: probe.tileMatrices ?? null,
    metadata: cleanJson(probe.metadata),
    fingerprint: probe.fingerprint,
  }
}

/** Returns the name in a tile set's own metadata; null if it has no usable one. */
export function nameOf(probe: TileSetProbe): string | null {
  const name = cleanText(probe.name ?? '').trim()
  return name === '' ? null : cleanText(name.slice(0, MAX_LABEL_LENGTH))
}
