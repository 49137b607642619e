import { rm } from 'node:fs/promises'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { insertAudit } from '@gateway/store/audit.js'
import { deleteVersion, readBasemap } from '@gateway/store/basemaps.js'
import { deleteLayerSources } from '@gateway/store/layer-sources.js'
import { changesOfSource, deleteScanSource, readScanSources } from '@gateway/store/scan-sources.js'
import { readOpenSliceJobs } from '@gateway/store/slice-jobs.js'
import { deleteItem } from '@gateway/store/sql.js'
import { readStyle } from '@gateway/store/styles.js'
import { readVector } from '@gateway/store/vectors.js'
import type { ControlContext } from '../../platform/context.js'
import { type Confirmed, commitAndConfirm } from '../../platform/edges/commit.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity } from '../../platform/http/app-type.js'
import { NO_SUCH_BASEMAP, NO_SUCH_SOURCE, NO_SUCH_STYLE, NO_SUCH_VECTOR } from '../../platform/http/refusal.js'
import { withScanLock } from '../scans/scan-lock.js'
import { LAYERS_SOURCE } from '../sources/configured-sources.js'
import { hideLayerFiles, removeIfEmpty, removeLayerObjects, slicedVersions } from './layer-files.js'

/** `files`: number of versions whose files were deleted. */
export type Forgotten = { readonly ok: true; readonly files: number } & Omit<Confirmed<unknown>, 'result'>

const NO_SUCH_VERSION = refuse('not_found', coded('version_not_of_this_basemap'))
const NOT_SLICED = refuse('invalid_parameters', coded('files_not_sliced_here'))
const BEING_SLICED = refuse('conflict', coded('layer_being_sliced'))
const OF_SLICING = refuse('conflict', coded('source_of_slicing'))

/** Deletes the record of a basemap or of one version, and on request also the files that were sliced here. */
export async function forgetBasemap(
  ctx: ControlContext,
  edges: KnownEdges,
  { code, version }: { readonly code: string; readonly version: string | null },
  files: boolean,
  admin: AdminIdentity,
): Promise<Forgotten | Refusal> {
  const basemap = await readBasemap(ctx.sql, code)
  if (basemap === null) return NO_SUCH_BASEMAP
  const labels = basemap.versions.map((one) => one.version)
  const versions = version === null ? labels : labels.filter((label) => label === version)
  if (version !== null && versions.length === 0) return NO_SUCH_VERSION
  const deleteRecord = async (filesOf: readonly string[]): Promise<Forgotten | Refusal> => {
    const { result, confirmed, pending } = await commitAndConfirm(ctx, edges, async (tx) => {
      // Another request may have deleted it meanwhile.
      const deleted = version === null ? await deleteItem(tx, 'basemaps', code) : await deleteVersion(tx, code, version)
      if (!deleted) return { result: false, changes: [] }
      // If the files stay, a scan finds the version again, and its source images are unchanged.
      if (filesOf.length > 0) await deleteLayerSources(tx, code, filesOf)
      const action = version === null ? 'basemap.delete' : 'version.delete'
      await insertAudit(tx, {
        ...admin,
        action,
        subject: code,
        detail: { name: basemap.name, versions, files_of: filesOf, before: { name: basemap.name, versions } },
      })
      return { result: true, changes: [{ kind: 'basemap', key: code }] }
    })
    if (!result) return version === null ? NO_SUCH_BASEMAP : NO_SUCH_VERSION
    return { ok: true, files: filesOf.length, confirmed, pending }
  }
  if (!files) return deleteRecord([])

  const { sliceOutputRoot, sliceWorkRoot } = ctx.settings
  const found = await slicedVersions(ctx.sql, basemap, sliceOutputRoot)
  const wanted = found.filter(({ version }) => versions.includes(version))
  const sliced = wanted.map(({ version }) => version)
  if (sliced.length === 0) return NOT_SLICED
  let hidden: readonly string[] = []
  const outcome = await withScanLock(ctx, async (): Promise<Forgotten | Refusal> => {
    if ((await readOpenSliceJobs(ctx.sql, [code])).length > 0) return BEING_SLICED
    const forgotten = await deleteRecord(sliced)
    if (!forgotten.ok) return forgotten
    const names = wanted.map(({ name }) => name)
    hidden = await hideLayerFiles(sliceWorkRoot, code, names)
    if (isRemote(sliceOutputRoot)) await removeLayerObjects(ctx.settings, code, sliced)
    return forgotten
  })
  // Deleting a large layer takes long, and scans need not wait for it.
  for (const folder of hidden) await rm(folder, { recursive: true, force: true })
  if (hidden.length > 0) await removeIfEmpty(sliceWorkRoot, code)
  return outcome
}

const RECORDS = {
  vector: { read: readVector, table: 'vectors', absent: NO_SUCH_VECTOR },
  style: { read: readStyle, table: 'styles', absent: NO_SUCH_STYLE },
} as const

/** Deletes the record of a vector or style. */
export async function forgetRecord(
  ctx: ControlContext,
  edges: KnownEdges,
  kind: keyof typeof RECORDS,
  code: string,
  admin: AdminIdentity,
): Promise<Forgotten | Refusal> {
  const { read, table, absent } = RECORDS[kind]
  const { result, confirmed, pending } = await commitAndConfirm(ctx, edges, async (tx) => {
    const record = await read(tx, code)
    if (record === null || !(await deleteItem(tx, table, code))) return { result: null, changes: [] }
    const { name, path } = record
    const detail = { name, path, before: { name, path } }
    await insertAudit(tx, { ...admin, action: `${kind}.delete`, subject: code, detail })
    return { result: record, changes: [{ kind, key: code }] }
  })
  return result === null ? absent : { ok: true, files: 0, confirmed, pending }
}

/** Deletes a source with all basemaps or vectors that were found in it. */
export async function forgetSource(
  ctx: ControlContext,
  edges: KnownEdges,
  code: string,
  admin: AdminIdentity,
): Promise<Forgotten | Refusal> {
  if (code === LAYERS_SOURCE) return OF_SLICING
  const [source] = await readScanSources(ctx.sql, code)
  if (source === undefined) return NO_SUCH_SOURCE
  const { name, kind, path, enabled } = source
  return withScanLock(ctx, async (): Promise<Forgotten | Refusal> => {
    const { result, confirmed, pending } = await commitAndConfirm(ctx, edges, async (tx) => {
      const changes = await changesOfSource(tx, code)
      if (!(await deleteScanSource(tx, code))) return { result: false, changes: [] }
      const detail = { name, kind, path, found: changes.length, before: { name, kind, path, enabled } }
      await insertAudit(tx, { ...admin, action: 'scan-source.delete', subject: code, detail })
      return { result: true, changes }
    })
    return result ? { ok: true, files: 0, confirmed, pending } : NO_SUCH_SOURCE
  })
}
