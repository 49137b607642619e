import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { coded, messageOfError, textOf } from '@gateway/contracts/messages.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import {
  isOffered,
  readBasemap,
  rootOf,
  type StoredBasemap,
  type StoredVersion,
  versionTitle,
} from '@gateway/store/basemaps.js'
import { insertPush } from '@gateway/store/deliveries.js'
import { bytesOfExports, type ClaimedExport, type ExportEnd, finishExport } from '@gateway/store/exports.js'
import { returnJob } from '@gateway/store/jobs.js'
import { readTargets } from '@gateway/store/targets.js'
import type { ExportTask } from '@gateway/tilesets/export/write-export.js'
import type { WrittenArchive } from '@gateway/tilesets/pmtiles/writer.js'
import { type StoredSet, storedSet } from '@gateway/tilesets/source.js'
import { keptFolder } from '@gateway/tilesets/upstream/upstream-sources.js'
import { copyHere, type LocalCopies } from '../catalog/local-copies.js'
import { recordEnd } from '../jobs/leases.js'
import { LeaseLost, type RunningJob } from '../jobs/running-job.js'
import { archiveMetadata, writeArchive } from '../platform/archives/write-archive.js'
import type { ControlContext } from '../platform/context.js'
import { exportDirectory, exportFileName } from '../platform/files/export-files.js'
import { retryUntil } from '../platform/retry-until.js'
import { keptTrace, traced, traceToKeep } from '../platform/trace.js'
import { publishExport } from './publish-export.js'

/** Time limit of writing one archive; the same as for slicing. */
const TIME_LIMIT_MS = 24 * 3_600_000

/** Time for which an export, and all exports behind it, wait for object storage that does not respond. */
const PATIENCE_MS = 120_000

/**
 * Writes the archive of a claimed export and records the outcome, with the push to its target in the same transaction. If the lease is
 * lost (the export was removed, or another process has it) or this process stops, the writing is aborted and nothing is recorded.
 */
export async function runExport(ctx: ControlContext, claimed: ClaimedExport, running: RunningJob): Promise<void> {
  const { id, trace, basemapCode } = claimed.wanted
  const { parent, fields } = keptTrace(trace)
  const attributes = { 'gateway.export': id, 'gateway.basemap': basemapCode }
  const span = { kind: 'consumer', parent, attributes, fields: { ...fields, export: id } } as const
  const failure = (end: ExportEnd | null) => (end !== null && 'failed' in end ? textOf(end.failed) : null)
  await traced(ctx, 'export', span, () => runInTrace(ctx, claimed, running), failure)
}

/** Returns the outcome; null: another process has it, or it was removed. */
async function runInTrace(
  ctx: ControlContext,
  { wanted, lease }: ClaimedExport,
  running: RunningJob,
): Promise<ExportEnd | null> {
  const { held } = running
  const onProgress = (progress: number) => {
    running.progress = { progress, phase: '' }
  }
  const { sql, log, settings } = ctx
  const directory = exportDirectory(settings.dataDir)
  const file = join(directory, exportFileName(wanted))
  // An aborted writer is killed, and leaves its partial file.
  const own = `.${wanted.id}-`
  const folder = join(directory, `${own}${lease.fence}.tmp`)
  let end: ExportEnd
  try {
    await mkdir(directory, { recursive: true })
    for (const name of await readdir(directory)) {
      if (name.startsWith(own)) await rm(join(directory, name), { recursive: true, force: true })
    }
    await mkdir(folder)
    const written = join(folder, exportFileName(wanted))
    end = await write(ctx, wanted, written, AbortSignal.any([held, AbortSignal.timeout(TIME_LIMIT_MS)]), onProgress)
    if (!('failed' in end)) await rename(written, file)
    if (!('failed' in end) && wanted.publishAs !== null) {
      const { basemapCode, publishAs: label } = wanted
      const cannot = await publishExport(ctx, { id: wanted.id, basemapCode, label, archive: file }, lease)
      if (cannot !== null) {
        await rm(file, { force: true })
        end = { failed: cannot }
      }
    }
  } catch (error) {
    if (held.aborted) {
      if (held.reason === 'stopped') await returnJob(sql, lease)
      return null
    }
    if (error instanceof LeaseLost) return null
    end = { failed: messageOfError(error) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  const outcome = end
  const ended = await recordEnd(log, held, () =>
    sql.begin(async (tx) => {
      const finished = await finishExport(tx, lease, outcome)
      if (finished === null || finished.status !== 'succeeded' || finished.targetCode === null) return finished
      const [target] = await readTargets(tx, finished.targetCode)
      // A target that was removed meanwhile gets nothing.
      if (target === undefined) return finished
      const push = { basemapCode: finished.basemapCode, version: finished.version, exportId: finished.id }
      const lane = target.mode === 'upload' ? 'transfer' : 'message'
      await insertPush(tx, { code: target.code, lane }, { kind: 'basemap_push', ...push }, traceToKeep())
      return finished
    }),
  )
  // The export was removed. Another process that writes the same export writes its own file.
  if (ended === null && held.reason !== 'stopped') await rm(file, { force: true })
  const fields = { basemap: wanted.basemapCode, version: wanted.version }
  if ('failed' in end) log.info({ ...fields, reason: textOf(end.failed) }, 'an export failed')
  else log.info({ ...fields, tiles: end.tiles, bytes: end.bytes }, 'an export is written')
  return end
}

async function write(
  { sql, settings }: ControlContext,
  wanted: ClaimedExport['wanted'],
  file: string,
  signal: AbortSignal,
  onProgress: (percent: number) => void,
): Promise<ExportEnd> {
  const basemap = await readBasemap(sql, wanted.basemapCode)
  const version = basemap?.versions.find((one) => one.version === wanted.version)
  if (!basemap || !version?.available) return { failed: coded('delivery_version_unavailable') }
  if (version.withdrawn || !isOffered(basemap)) return { failed: coded('delivery_version_withdrawn') }
  const room = settings.exportMaxBytes - (await bytesOfExports(sql))
  if (room <= 0) return { failed: coded('export_room_full') }
  const task: ExportTask = {
    set: setOf(settings, version, basemap),
    area: { minZoom: wanted.zoomMin, maxZoom: wanted.zoomMax, bounds: wanted.bounds },
    bounds: version.bounds,
    hasOwnBounds: wanted.publishAs !== null,
    metadata: archiveMetadata(versionTitle(basemap, version), {
      ...version,
      version: wanted.publishAs ?? version.version,
    }),
    archiveFormat: wanted.format,
    tileSize: version.tileSize,
    file,
    maxBytes: room,
  }
  const older = wanted.fromVersion === null ? null : basemap.versions.find((one) => one.version === wanted.fromVersion)
  if (older === undefined || (older !== null && (!older.available || older.withdrawn)))
    return { failed: coded('export_delta_base_gone') }
  const copies: LocalCopies[] = []
  const here = async <Set extends StoredSet>(set: Set): Promise<Set> => {
    if (!isRemote(set.path)) return set
    const copied = await retryUntil(signal, () => copyHere(settings, set.root, [set.path], room, signal), PATIENCE_MS)
    copies.push(copied)
    return { ...set, path: copied.files[0] as string, root: copied.folder }
  }
  const sets = [task.set, ...(older === null ? [] : [setOf(settings, older, basemap)])]
  if (sets.some((set) => isRemote(set.path) && set.storage !== 'pmtiles' && set.storage !== 'mbtiles'))
    return { failed: coded('delivery_tiles_scattered') }
  try {
    const [set = task.set, before] = [await here(task.set), sets[1] && (await here(sets[1]))]
    const versions = { from: older?.version ?? '', to: version.version }
    const whole = { ...task, set }
    return figures(await writeArchive(before ? { ...whole, older: before, versions } : whole, signal, onProgress))
  } finally {
    await Promise.all(copies.map((copied) => copied.remove()))
  }
}

function setOf(
  { tileCacheDir }: ControlContext['settings'],
  version: StoredVersion,
  basemap: StoredBasemap,
): StoredSet {
  const { format, upstream, tileMatrices = null } = version
  // The tiles of a service are those that this host has kept, whose files are a folder of tiles.
  if (upstream) {
    const kept = keptFolder(tileCacheDir, { ...version, upstream, tileMatrices })
    return { storage: 'xyz', rowsFromNorth: true, format, path: kept, extension: format, root: tileCacheDir }
  }
  return storedSet(version, rootOf(basemap, version))
}

function figures({ tiles, bytes }: WrittenArchive): ExportEnd {
  return { tiles, bytes }
}
