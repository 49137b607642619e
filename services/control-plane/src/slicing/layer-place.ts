import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { STAGING_MARK } from '@gateway/contracts/tiling/publish.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import type { Sql } from '@gateway/store/connect.js'
import type { JobLease } from '@gateway/store/jobs.js'
import type { StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { LAYERS_SOURCE } from '../catalog/sources/configured-sources.js'
import { layerNow, type Mode, modeOf, versionFor } from './layer-version.js'

export interface LayerPlace {
  readonly mode: Mode
  readonly version: string
  /** directory of all tiles of that version, which is served if the output is a folder; it may not exist yet */
  readonly layerDir: string
  /** directory for new tiles: next to the versions, so that renames stay on one file system, and hidden from scans by its dot */
  readonly stagingDir: string
}

export type Placed =
  | { readonly ok: true; readonly place: LayerPlace }
  | { readonly ok: false; readonly reason: CodedMessage }

/**
 * Decides the place of a job's tiles. Refused if the layer's code belongs to a basemap of another source.
 */
export async function placeLayer(
  sql: Sql,
  { sliceWorkRoot, sliceOutputRoot }: Pick<Settings, 'sliceWorkRoot' | 'sliceOutputRoot'>,
  job: StoredSliceJob,
  lease: JobLease,
  nowMs: number,
): Promise<Placed> {
  const basemap = await readBasemap(sql, job.targetCode)
  if (basemap !== null && basemap.sourceCode !== LAYERS_SOURCE) {
    return {
      ok: false,
      reason: coded('slice_code_of_source', {
        basemap: JSON.stringify(job.targetCode),
        source: JSON.stringify(basemap.sourceCode),
      }),
    }
  }
  const mode = modeOf(job)
  const isBucket = isRemote(sliceOutputRoot)
  const layer = join(sliceWorkRoot, job.targetCode)
  let now = layerNow(basemap)
  let version = versionFor(job, now, nowMs)
  // A scan restores the files of a deleted version unchanged, so new images must not be added to them.
  while (job.version === null && !now.known.includes(version) && isTaken(layer, version)) {
    now = { ...now, known: [...now.known, version] }
    version = versionFor(job, now, nowMs)
  }
  const before = basemap?.versions.find((one) => one.version === version && one.available)
  const has = before?.storage === 'pmtiles' ? 'pmtiles' : 'folder'
  if (before !== undefined && !isBucket && has !== job.output)
    return { ok: false, reason: coded('slice_target_output', { layer: job.targetCode, has, asked: job.output }) }
  const stagingDir = join(layer, `${STAGING_MARK}${lease.id}-${lease.fence}`)
  // A folder next to an archive would be a second candidate for the same version in a scan.
  const isArchive = job.output === 'pmtiles' && !isBucket
  return {
    ok: true,
    place: {
      mode,
      version,
      layerDir: isArchive ? `${stagingDir}-layer` : join(layer, version),
      stagingDir,
    },
  }
}

function isTaken(layer: string, version: string): boolean {
  return [version, `${version}.pmtiles`].some((name) => existsSync(join(layer, name)))
}

/** Removes leftovers of crashed runs next to a layer. Only one job runs at a time, so no other staging folder can be there. */
export async function removeLeftStaging(outputRoot: string, targetCode: string): Promise<void> {
  const layer = join(outputRoot, targetCode)
  for (const name of await readdir(layer).catch(() => [])) {
    if (name.startsWith(STAGING_MARK)) await rm(join(layer, name), { recursive: true, force: true })
  }
}
