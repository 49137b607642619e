import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
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
import { isUuid } from '../platform/http/input-validation.js'
import { layerNow, type Mode, modeOf, versionFor } from './layer-version.js'

export interface LayerPlace {
  readonly mode: Mode
  readonly version: string
  /** directory of all tiles of that version, which is served if the output is a folder; it may not exist yet */
  readonly layerDir: string
  /** folder of everything that a run writes: next to the versions, so that renames stay on one file system; its dot hides it from scans */
  readonly runDir: string
  /** folder of new tiles */
  readonly stagingDir: string
  /** folder in which the tiling tool records finished work, for the next run of an interrupted job */
  readonly resumeDir: string
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
  const runDir = runDirOf(layer, lease)
  // The tiles of an archive lie in the run's folder: a scan would take a folder next to the archive for the same version.
  const isArchive = job.output === 'pmtiles' && !isBucket
  return {
    ok: true,
    place: {
      mode,
      version,
      layerDir: isArchive ? join(runDir, LAYER) : join(layer, version),
      runDir,
      stagingDir: join(runDir, TILES),
      resumeDir: join(runDir, RESUME),
    },
  }
}

function isTaken(layer: string, version: string): boolean {
  return [version, `${version}.pmtiles`].some((name) => existsSync(join(layer, name)))
}

/** The tiles of a run, and the records of the tool: the next run needs only these to resume. */
const TILES = 'tiles'
const RESUME = 'resume'

/** The tiles of a version that is published as an archive. */
const LAYER = 'layer'

/** Marker in a run's folder: its tiles are complete, and are being moved into the layer. */
const PUBLISHING = 'publishing'

function runDirOf(layer: string, { id, fence }: Pick<JobLease, 'id' | 'fence'>): string {
  return join(layer, `${STAGING_MARK}${id}-${fence}`)
}

/** Returns the job of a folder next to a layer's versions; null if the folder does not belong to a run. */
export function jobOfRun(name: string): string | null {
  const id = name.startsWith(STAGING_MARK) ? name.slice(STAGING_MARK.length, name.lastIndexOf('-')) : ''
  return isUuid(id) ? id : null
}

/**
 * Takes over the files of the previous run of this job, and removes those of other jobs, which cannot be in use because one job runs at a time. The
 * folder gets the name of this run, so that a process that has lost the job without noticing cannot write into it.
 */
export async function adoptRun(workRoot: string, targetCode: string, lease: JobLease): Promise<void> {
  const layer = join(workRoot, targetCode)
  const names = (await readdir(layer).catch(() => [])).filter((name) => name.startsWith(STAGING_MARK))
  const fenceOf = (name: string) => Number(name.split('-').at(-1))
  const own = names
    .filter((name) => name.startsWith(`${STAGING_MARK}${lease.id}-`) && existsSync(join(layer, name, RESUME)))
    .sort((a, b) => fenceOf(a) - fenceOf(b))
    .at(-1)
  for (const name of names) if (name !== own) await rm(join(layer, name), { recursive: true, force: true })
  if (own === undefined) return
  const runDir = runDirOf(layer, lease)
  await rename(join(layer, own), runDir)
  const kept = isPublishing({ runDir }) ? [TILES, RESUME, LAYER, PUBLISHING] : [TILES, RESUME]
  for (const name of await readdir(runDir)) {
    if (!kept.includes(name)) await rm(join(runDir, name), { recursive: true, force: true })
  }
}

/** True if all tiles of the run are made, and some may already be in the layer. */
export function isPublishing({ runDir }: Pick<LayerPlace, 'runDir'>): boolean {
  return existsSync(join(runDir, PUBLISHING))
}

export async function notePublishing({ runDir }: LayerPlace): Promise<void> {
  await mkdir(runDir, { recursive: true })
  await writeFile(join(runDir, PUBLISHING), '')
}
