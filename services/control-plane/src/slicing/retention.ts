import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { deleteVersions, readBasemap, setVersionsAvailable } from '@gateway/store/basemaps.js'
import { holdLease } from '@gateway/store/jobs.js'
import { deleteLayerSources } from '@gateway/store/layer-sources.js'
import { removeLayerObjects } from '../catalog/edit/layer-files.js'
import { layerKey } from '../catalog/register/layer-path.js'
import { withScanLock } from '../catalog/scans/scan-lock.js'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish, edgesFollow } from '../platform/edges/commit.js'

/** Number of versions of a sliced layer that stay for rollback, besides the default version. */
const KEPT_VERSIONS = 5

/** Removes the oldest versions of a layer beyond the limit: from disk after edges no longer serve them, and then from the catalog. */
export async function removeOldVersions(ctx: ControlContext, code: string): Promise<void> {
  const basemap = await readBasemap(ctx.sql, code)
  const available = (basemap?.versions ?? []).filter((version) => version.available)
  const removed = available
    .slice(0, -KEPT_VERSIONS)
    .filter(({ version }) => version !== basemap?.defaultVersion && version !== basemap?.setDefault)
  if (removed.length === 0) return
  const old = removed.map(({ version }) => version)
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    await setVersionsAvailable(tx, code, old, false)
    return { result: null, changes: [{ kind: 'basemap', key: code }] }
  })
  await edgesFollow(ctx, revision)
  for (const { version, storage } of removed) {
    const isBucket = isRemote(ctx.settings.sliceOutputRoot)
    const name = storage === 'pmtiles' && !isBucket ? layerKey(code, version) : `${code}/${version}`
    await rm(join(ctx.settings.sliceWorkRoot, name), { recursive: true, force: true })
    if (isBucket) await removeLayerObjects(ctx.settings, code, [version])
    ctx.log.info({ layer: code, version }, 'an old version of a layer was removed')
  }
  await forgetVersions(ctx, code, old)
}

/**
 * Deletes versions that were removed on purpose, so that scans and health checks do not report them as missing. A scan in progress may have seen
 * them on the disk, and would restore them. In that case they stay in the catalog as unavailable.
 */
async function forgetVersions(ctx: ControlContext, code: string, versions: readonly string[]): Promise<void> {
  await withScanLock(ctx, ({ lease }) =>
    commitAndPublish(ctx, async (tx) => {
      if (!(await holdLease(tx, lease))) return { result: null, changes: [] }
      await deleteVersions(tx, code, versions)
      await deleteLayerSources(tx, code, versions)
      return { result: null, changes: [{ kind: 'basemap', key: code }] }
    }),
  )
}
