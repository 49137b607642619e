import type { ComparedZoom, Comparison } from '@gateway/contracts/comparison.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { HelperProcess } from '@gateway/core/processes/helper-process.js'
import { readBasemap, rootOf, type StoredVersion } from '@gateway/store/basemaps.js'
import type { ComparedSet, CompareTask, ComparedZoom as Found } from '@gateway/tilesets/compare/compare-sets.js'
import { storedSet } from '@gateway/tilesets/source.js'
import type { ControlContext } from '../../platform/context.js'
import { NO_SUCH_BASEMAP, NO_SUCH_VERSION } from '../../platform/http/refusal.js'
import type { CompareAnswer } from './compare-process.js'

/** The built file, even when the sources run (in tests). */
const COMPARE_PROCESS = new URL('../../../dist/catalog/compare/compare-process.js', import.meta.url)

/** Maximum number of tiles in one comparison: some seconds of reading from a disk, and a response of at most 60 KB. */
export const MAX_COMPARED = 4096
/** Time limit of the reading. The tiles compared by then are returned. */
export const LIMIT_SECONDS = 20
/** Time in ms after its limit when a process is killed, because a hanging disk blocks the process that reads it. */
const PATIENCE_MS = 5_000
/** Maximum number of comparisons that one control plane makes at the same time, each in a process. */
export const MAX_AT_ONCE = 2

const TOO_MANY = {
  ...refuse('too_many_requests', coded('comparisons_full', { limit: MAX_AT_ONCE })),
  retryAfterSeconds: LIMIT_SECONDS,
}
const HANGS = refuse('dependency_down', coded('tiles_disk_silent'))
const FAILED = refuse('dependency_down', coded('tiles_not_readable'))

export interface WantedComparison {
  readonly left: string
  readonly right: string
  readonly zoom_min: number
  readonly zoom_max: number
}

/** Compares two versions of a basemap tile by tile, in a separate process. */
export class VersionComparer {
  readonly #ctx: ControlContext
  #running = 0

  constructor(ctx: ControlContext) {
    this.#ctx = ctx
  }

  /** Rejects with the reason of the signal, and then stops reading. */
  async compare(code: string, wanted: WantedComparison, signal: AbortSignal): Promise<Comparison | Refusal> {
    const task = await this.#taskOf(code, wanted)
    if ('ok' in task) return task
    if (this.#running >= MAX_AT_ONCE) return TOO_MANY
    this.#running++
    const helper = new HelperProcess<CompareTask, CompareAnswer>(COMPARE_PROCESS)
    try {
      const answer = await helper.askWithin(task, task.limitMs + PATIENCE_MS, signal)
      if (answer === null) return HANGS
      if ('refused' in answer) return refuse('conflict', coded('versions_not_compared', { reason: answer.refused }))
      return { left: wanted.left, right: wanted.right, complete: answer.complete, zooms: answer.zooms.map(toZoom) }
    } catch (error) {
      if (signal.aborted) throw error
      this.#ctx.log.warn({ err: error, basemap: code, ...wanted }, 'two versions could not be compared')
      return FAILED
    } finally {
      this.#running--
      helper.end()
    }
  }

  async #taskOf(code: string, wanted: WantedComparison): Promise<CompareTask | Refusal> {
    const basemap = await readBasemap(this.#ctx.sql, code)
    if (basemap === null) return NO_SUCH_BASEMAP
    const [left, right] = [wanted.left, wanted.right].map((label) =>
      basemap.versions.find(({ version }) => version === label),
    )
    if (left === undefined || right === undefined) return NO_SUCH_VERSION
    for (const { version, available, path, storage } of [left, right]) {
      if (!available) return refuse('conflict', coded('version_number_unavailable', { version }))
      if (storage === 'upstream') return refuse('conflict', coded('version_of_service', { version }))
      if (isRemote(path)) return refuse('conflict', coded('version_in_object_storage', { version }))
    }
    if (left.tileMatrixSet !== right.tileMatrixSet)
      return refuse(
        'conflict',
        coded('versions_grids_differ', { left: left.tileMatrixSet, right: right.tileMatrixSet }),
      )
    return {
      left: setOf(left, rootOf(basemap, left)),
      right: setOf(right, rootOf(basemap, right)),
      tileMatrixSet: left.tileMatrixSet,
      tileMatrices: left.tileMatrices ?? null,
      minZoom: wanted.zoom_min,
      maxZoom: wanted.zoom_max,
      maxTiles: MAX_COMPARED,
      limitMs: LIMIT_SECONDS * 1000,
    }
  }
}

/** Returns the version as the comparing process reads it. */
export function setOf(version: StoredVersion, root: string): ComparedSet {
  const { minZoom, maxZoom, bounds } = version
  return { ...storedSet(version, root), minZoom, maxZoom, bounds }
}

function toZoom({ different, onlyLeft, onlyRight, ...counts }: Found): ComparedZoom {
  const places = (found: Found['different']) => found.map(([x, y]): [number, number] => [x, y])
  return { ...counts, different: places(different), only_left: places(onlyLeft), only_right: places(onlyRight) }
}
