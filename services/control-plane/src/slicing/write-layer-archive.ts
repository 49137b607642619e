import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { METADATA_FILE } from '@gateway/contracts/tiling/protocol.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import type { WrittenArchive } from '@gateway/tilesets/pmtiles/writer.js'
import { writeArchive } from '../platform/archives/write-archive.js'

/** Writes the tiles and metadata of a layer as one PMTiles archive, completely or not at all. @param places `root`: parent of both */
export async function writeLayerArchive(
  { layerDir, root, archive }: { readonly layerDir: string; readonly root: string; readonly archive: string },
  { storage, format, extension, bounds }: Pick<NewVersion, 'storage' | 'format' | 'extension' | 'bounds'>,
  signal: AbortSignal,
): Promise<WrittenArchive> {
  const task = {
    set: { storage, format, extension, path: layerDir, root },
    area: { minZoom: 0, maxZoom: 26, bounds: null },
    bounds,
    metadata: await readMetadata(layerDir),
    file: archive,
    maxBytes: Number.MAX_SAFE_INTEGER,
  }
  return writeArchive(task, signal)
}

/** Reads the layer's own metadata, which is restored when the tiles are unpacked. */
async function readMetadata(layerDir: string): Promise<Record<string, unknown>> {
  const text = await readFile(join(layerDir, METADATA_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  return JSON.parse(text)
}
