import type { Queryable, Transaction } from './connect.js'

export interface LayerSources {
  readonly code: string
  readonly version: string
  readonly source_paths: string[]
}

/** Records that images were added to a version of a layer. An image that was there already moves to the top. */
export async function appendLayerSources(
  tx: Transaction,
  layer: { readonly code: string; readonly version: string },
  jobId: string,
  paths: readonly string[],
): Promise<void> {
  await tx`
    DELETE FROM layer_sources
    WHERE target_code = ${layer.code} AND version = ${layer.version} AND path = ANY(${paths as string[]}::text[])`
  // If a path occurs twice, its last position counts, which covers the others.
  for (const path of [...new Set(paths.toReversed())].reverse()) {
    await tx`
      INSERT INTO layer_sources (target_code, version, path, job_id) VALUES (${layer.code}, ${layer.version}, ${path}, ${jobId})`
  }
}

/** Returns the images of each version of a layer, or of all layers, in the order in which they were added. */
export async function readLayerSources(sql: Queryable, code: string | null): Promise<LayerSources[]> {
  return sql<LayerSources[]>`
    SELECT target_code AS code, version, array_agg(path ORDER BY position) AS source_paths
    FROM layer_sources WHERE ${code}::text IS NULL OR target_code = ${code}
    GROUP BY target_code, version ORDER BY target_code, version`
}

/** Deletes the images of versions that no longer exist. */
export async function deleteLayerSources(tx: Transaction, code: string, versions: readonly string[]): Promise<void> {
  await tx`DELETE FROM layer_sources WHERE target_code = ${code} AND version = ANY(${versions as string[]}::text[])`
}
