import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_LIMITS, type TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { NewSliceJob } from '@gateway/store/slice-jobs.js'
import type { LayerPlace } from './layer-place.js'

/** Directory of images that were fetched from object storage for a running job. */
export const fetchDirectory = (dataDir: string): string => join(scratchDirectory(dataDir), 'fetched')

export const scratchDirectory = (dataDir: string): string => join(dataDir, 'slice-temp')

/** Builds the request to the tiling tool for a job. */
export async function toolRequest(
  settings: Settings,
  job: NewSliceJob,
  place: Pick<LayerPlace, 'mode' | 'stagingDir'> & Partial<Pick<LayerPlace, 'layerDir' | 'resumeDir'>>,
  sourceTags: readonly (string | null)[] = [],
): Promise<TilingRequest> {
  const roots = await sourceRoots(settings)
  return {
    mode: place.mode,
    source_paths: [...job.sourcePaths],
    ...(roots.length > 0 && { source_roots: roots }),
    ...(place.layerDir !== undefined && { layer_dir: place.layerDir }),
    staging_dir: place.stagingDir,
    ...(place.resumeDir !== undefined &&
      settings.tilerCommand === null && { resume: { dir: place.resumeDir, source_tags: [...sourceTags] } }),
    temp_dir: scratchDirectory(settings.dataDir),
    zoom_min: job.zoomMin,
    zoom_max: job.zoomMaxNative ? 'native' : job.zoomMax,
    tile_size: job.tileSize === 512 ? 512 : 256,
    tile_format: toolFormat(job.tileFormat),
    // Defaults are omitted, because an operator's own tool may not know these fields.
    ...(job.tileMatrixSet !== 'WebMercatorQuad' && { tile_matrix_set: job.tileMatrixSet }),
    ...(job.encoding !== 'rgb' && { encoding: job.encoding }),
    ...(job.resampling !== 'auto' && { resampling: job.resampling }),
    engine: 'auto',
    limits: DEFAULT_LIMITS,
  }
}

/**
 * Returns the directories that source images must be in, by their configured and real names; empty: anywhere. Images that were fetched from
 * buckets are in a separate one.
 */
async function sourceRoots({ sliceSourceRoots, dataDir }: Settings): Promise<string[]> {
  if (sliceSourceRoots.length === 0) return []
  const configured = [...sliceSourceRoots.filter((root) => !isRemote(root)), fetchDirectory(dataDir)]
  const real = await Promise.all(configured.map((root) => realpath(root).catch(() => root)))
  return [...new Set([...configured, ...real])]
}

/** Returns the format of new tiles: WebP replaces formats without transparency, and elevations are stored without loss. */
export function realFormat(requested: string, encoding: NewSliceJob['encoding']): string {
  const format = toolFormat(requested)
  return format === 'jpg' || (encoding !== 'rgb' && format === 'avif') ? 'webp' : format
}

/** The requested format is metadata. The tool gets the nearest format that it supports, and reports the actual format of the layer. */
function toolFormat(requested: string): TilingRequest['tile_format'] {
  const lower = requested.toLowerCase()
  if (lower === 'jpeg') return 'jpg'
  return lower === 'png' || lower === 'jpg' || lower === 'avif' ? lower : 'webp'
}
