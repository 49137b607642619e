import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_LIMITS, type TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { NewSliceJob } from '@gateway/store/slice-jobs.js'
import type { LayerPlace } from './layer-place.js'

/** Images that were fetched from object storage for a job, while it runs. */
export const fetchDirectory = (dataDir: string): string => join(scratchDirectory(dataDir), 'fetched')

export const scratchDirectory = (dataDir: string): string => join(dataDir, 'slice-temp')

/** What the tiling tool is asked for to do a job. */
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
    // Defaults are left out: an operator's own tool may not know these fields.
    ...(job.tileMatrixSet !== 'WebMercatorQuad' && { tile_matrix_set: job.tileMatrixSet }),
    ...(job.encoding !== 'rgb' && { encoding: job.encoding }),
    engine: 'auto',
    limits: DEFAULT_LIMITS,
  }
}

/**
 * The directories that source images must lie in, by their configured and by their real names; none: anywhere. What was fetched from buckets among
 * them lies in one of its own.
 */
async function sourceRoots({ sliceSourceRoots, dataDir }: Settings): Promise<string[]> {
  if (sliceSourceRoots.length === 0) return []
  const configured = [...sliceSourceRoots.filter((root) => !isRemote(root)), fetchDirectory(dataDir)]
  const real = await Promise.all(configured.map((root) => realpath(root).catch(() => root)))
  return [...new Set([...configured, ...real])]
}

/** What new tiles are written as: WebP takes the place of formats without transparency, and heights are stored without loss. */
export function realFormat(requested: string, encoding: NewSliceJob['encoding']): string {
  const format = toolFormat(requested)
  return format === 'jpg' || (encoding !== 'rgb' && format === 'avif') ? 'webp' : format
}

/** The requested format is metadata: the tool gets the nearest that it knows, and reports which one the layer really has. */
function toolFormat(requested: string): TilingRequest['tile_format'] {
  const lower = requested.toLowerCase()
  if (lower === 'jpeg') return 'jpg'
  return lower === 'png' || lower === 'jpg' || lower === 'avif' ? lower : 'webp'
}
