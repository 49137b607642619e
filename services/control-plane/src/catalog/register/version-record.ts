import { MAX_LABEL_LENGTH } from '@gateway/contracts/common.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'
import { cleanJson, cleanText } from './storable-text.js'

/** What the store keeps of a version that was probed. */
export function versionRecord(version: string, path: string, probe: TileSetProbe): NewVersion {
  return {
    version,
    path,
    storage: probe.storage,
    rowsFromNorth: probe.rowsFromNorth,
    format: probe.format,
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

/** The name that a tile set gives itself; null: none that can be used. */
export function nameOf(probe: TileSetProbe): string | null {
  const name = cleanText(probe.name ?? '').trim()
  return name === '' ? null : cleanText(name.slice(0, MAX_LABEL_LENGTH))
}
