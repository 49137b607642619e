import { readBasemaps, type StoredBasemap } from '@gateway/store/basemaps.js'
import type { Queryable } from '@gateway/store/connect.js'
import { compareVersions } from '@gateway/store/default-version.js'
import { type ListedSliceJob, readOpenSliceJobs } from '@gateway/store/slice-jobs.js'
import { LAYERS_SOURCE } from '../catalog/sources/configured-sources.js'

export type Mode = 'accumulate' | 'mosaic'

export function modeOf(job: Pick<ListedSliceJob, 'sourceCount'>): Mode {
  return job.sourceCount === 1 ? 'accumulate' : 'mosaic'
}

/** The facts that determine the next version of a layer. */
export interface LayerNow {
  /** labels of all versions, available or not */
  readonly known: readonly string[]
  /** newest available label; undefined: none */
  readonly newest: string | undefined
}

export function layerNow(basemap: StoredBasemap | null | undefined): LayerNow {
  const versions = basemap?.versions ?? []
  return {
    known: versions.map(({ version }) => version),
    newest: versions.findLast(({ available }) => available)?.version,
  }
}

/**
 * Returns the version that a job writes: one source image is added to the newest version, several images make a new one. A job that ran before keeps
 * its version, so that a rerun ends in the same place. Pure.
 */
export function versionFor(
  job: Pick<ListedSliceJob, 'sourceCount' | 'version'>,
  { known, newest }: LayerNow,
  nowMs: number,
): string {
  if (job.version !== null) return job.version
  return modeOf(job) === 'accumulate' && newest !== undefined ? newest : newVersionLabel(known, nowMs)
}

/**
 * Returns the expected versions of jobs that have not started, by job id, from catalog and queue: the version each gets if all earlier jobs succeed.
 * The version is fixed when the job starts. A job that will be refused, since its layer's code belongs to another source, has none.
 */
export async function expectedVersions(
  sql: Queryable,
  jobs: readonly ListedSliceJob[],
  nowMs: number,
): Promise<ReadonlyMap<string, string>> {
  const waiting = jobs.filter((job) => job.version === null && (job.status === 'pending' || job.status === 'running'))
  const expected = new Map<string, string>()
  if (waiting.length === 0) return expected
  const codes = [...new Set(waiting.map((job) => job.targetCode))]
  const basemaps = new Map((await readBasemaps(sql, codes)).map((basemap) => [basemap.code, basemap]))
  const queue = await readOpenSliceJobs(sql, codes)
  for (const code of codes) {
    const basemap = basemaps.get(code)
    if (basemap !== undefined && basemap.sourceCode !== LAYERS_SOURCE) continue
    let layer = layerNow(basemap)
    for (const job of queue.filter(({ targetCode }) => targetCode === code)) {
      const version = versionFor(job, layer, nowMs)
      expected.set(job.id, version)
      layer = afterJob(layer, version)
    }
  }
  return expected
}

/** An unknown version is labelled so that it becomes the newest. */
function afterJob({ known, newest }: LayerNow, version: string): LayerNow {
  return known.includes(version)
    ? { known, newest: newest ?? version }
    : { known: [...known, version], newest: version }
}

/**
 * Returns the label of a new version: the day in UTC, with a number if that day already has one. It always comes after all known labels in natural
 * order, so that it is the newest. Pure.
 */
export function newVersionLabel(known: readonly string[], nowMs: number): string {
  const newest = [...known].sort(compareVersions).at(-1)
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const isNewest = (label: string) => newest === undefined || compareVersions(label, newest) > 0
  if (isNewest(day)) return day
  for (let n = 2; ; n++) {
    const label = `${newest?.startsWith(day) ? day : newest}-${n}`
    if (isNewest(label)) return label
  }
}
