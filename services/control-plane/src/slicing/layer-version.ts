import { readBasemaps, type StoredBasemap } from '@gateway/store/basemaps.js'
import type { Queryable } from '@gateway/store/connect.js'
import { readOpenSliceJobs, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { LAYERS_SOURCE } from '../scans/sources-from-settings.js'
import { newVersionLabel } from './version-label.js'

export type Mode = 'accumulate' | 'mosaic'

export function modeOf(job: Pick<StoredSliceJob, 'sourcePaths'>): Mode {
  return job.sourcePaths.length === 1 ? 'accumulate' : 'mosaic'
}

/** What the next version of a layer depends on. */
export interface LayerNow {
  /** labels of all versions, available or not */
  readonly known: readonly string[]
  /** the newest that is available; undefined: none */
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
 * The version that a job goes to: one source accumulates into the newest, several build a new one. A job that ran before keeps its version,
 * so that a rerun ends in the same place. Pure.
 */
export function versionFor(
  job: Pick<StoredSliceJob, 'sourcePaths' | 'version'>,
  { known, newest }: LayerNow,
  nowMs: number,
): string {
  if (job.version !== null) return job.version
  return modeOf(job) === 'accumulate' && newest !== undefined ? newest : newVersionLabel(known, nowMs)
}

/**
 * The versions of jobs that have not started, by job id, as catalog and queue stand: the one each gets if those before it succeed. It is
 * settled when the job starts. A job that will be refused, since its layer's code is that of a basemap from elsewhere, has none.
 */
export async function expectedVersions(
  sql: Queryable,
  jobs: readonly StoredSliceJob[],
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

/** A version that was not known is labelled so that it is the newest. */
function afterJob({ known, newest }: LayerNow, version: string): LayerNow {
  return known.includes(version)
    ? { known, newest: newest ?? version }
    : { known: [...known, version], newest: version }
}
