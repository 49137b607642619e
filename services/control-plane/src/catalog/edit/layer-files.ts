import { randomUUID } from 'node:crypto'
import { realpath, rename, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { SLICE_OUTPUTS } from '@gateway/contracts/slice.js'
import { STAGING_MARK } from '@gateway/contracts/tiling/publish.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { type ObjectStoreSettings, openObjectStore } from '@gateway/core/object-storage/open.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import type { Queryable } from '@gateway/store/connect.js'
import { readLayerSources } from '@gateway/store/layer-sources.js'
import { layerKey, layerPath } from '../register/layer-path.js'
import { LAYERS_SOURCE } from '../sources/configured-sources.js'

export interface SlicedVersion {
  readonly version: string
  /** name of its folder or archive, below the folder of the layer */
  readonly name: string
}

/** Returns the versions of a basemap whose files were sliced here, and are in the output folder of slicing. */
export async function slicedVersions(
  sql: Queryable,
  basemap: StoredBasemap,
  outputRoot: string,
): Promise<SlicedVersion[]> {
  if (basemap.sourceCode !== LAYERS_SOURCE) return []
  const sliced = new Set((await readLayerSources(sql, basemap.code)).map(({ version }) => version))
  const isPlace = (version: string, path: string) =>
    SLICE_OUTPUTS.some((output) => path === layerPath(outputRoot, { targetCode: basemap.code, output }, version))
  return basemap.versions
    .filter(({ version, path }) => sliced.has(version) && isPlace(version, path))
    .map(({ version, path }) => ({ version, name: isRemote(outputRoot) ? version : basename(path) }))
}

/**
 * Hides the folders and archives of versions by renaming each. Returns their new paths, for the caller to delete. The names are those of staging
 * folders of slice jobs, so the layer's next job deletes leftovers of a crash. Absent ones are skipped. Rejects if the layer's
 * folder is a link, since its files are then elsewhere, and do not belong to slicing.
 */
export async function hideLayerFiles(outputRoot: string, code: string, names: readonly string[]): Promise<string[]> {
  const layer = join(outputRoot, code)
  const real = await realpath(layer).catch(unlessAbsent)
  if (real === null) return []
  if (real !== join(await realpath(outputRoot), code)) throw new Error(`${layer} is a link; its files are not deleted`)
  const hidden: string[] = []
  for (const name of names) {
    const place = join(layer, `${STAGING_MARK}removed-${randomUUID()}`)
    const renamed = await rename(join(layer, name), place).catch(unlessAbsent)
    if (renamed !== null) hidden.push(place)
  }
  return hidden
}

/** Removes the objects of versions, if layers are published into a bucket. */
export async function removeLayerObjects(
  settings: ObjectStoreSettings & { readonly sliceOutputRoot: string },
  code: string,
  versions: readonly string[],
): Promise<void> {
  const store = openObjectStore(settings.sliceOutputRoot, settings)
  try {
    for (const version of versions) await store.remove(layerKey(code, version))
  } finally {
    await store.close()
  }
}

/** Removes a layer's folder if it is empty. */
export async function removeIfEmpty(outputRoot: string, code: string): Promise<void> {
  await rmdir(join(outputRoot, code)).catch(() => {})
}

function unlessAbsent(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
