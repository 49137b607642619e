import { HelperPool, TaskEnded } from '@gateway/core/processes/helper-pool.js'
import type { RangeTask } from './build-range.js'
import type { DrawingsTask, LeftOut } from './sprites.js'

/** The built file, used both from the sources (in tests) and from the build. */
const MODULE = new URL('../dist/asset-process.js', import.meta.url)

/** Work on fonts and drawings, which come from outside. */
export type AssetTask =
  /** one range of a stack of fonts: the first font with a glyph determines it */
  | (RangeTask & { readonly kind: 'range' })
  /** writes the index and image of a sprite to two files, in an existing folder */
  | (DrawingsTask & { readonly kind: 'sprite'; readonly ratio: 1 | 2; readonly json: string; readonly png: string })
  | { readonly kind: 'check font'; readonly root: string; readonly path: string }
  | (DrawingsTask & { readonly kind: 'check drawings' })

export type AssetAnswer =
  | {
      readonly ok: true
      /** the range, uncompressed and in gzip; empty for other tasks */
      readonly plain: Uint8Array
      readonly packed: Uint8Array
      readonly leftOut: readonly LeftOut[]
      /** characters of the range that no font has */
      readonly boxes: readonly number[]
    }
  /** the font or sprite cannot be used at all */
  | { readonly ok: false; readonly reason: string }

/** Limit of one font or drawing. The largest ranges of CJK fonts take a second on an idle machine. */
const STEP_MS = 10_000
/** Limit of one sprite or range. A sprite of the largest area with thousands of drawings takes 20 s. */
const TASK_MS = 60_000
/** Enough for a font of 128 MB, and for the image of a sprite with the largest area (64 MB). */
const MEMORY_MB = 340
/** Limit: tasks that wait. */
const MAX_WAITING = 256

/** Processes for untrusted fonts and drawings: those of one request can neither hold up others for long nor take the memory of this process. */
export function assetPool(processes: number, stepMs = STEP_MS): HelperPool<AssetTask, AssetAnswer> {
  const limits = { stepMs, taskMs: TASK_MS, memoryMb: MEMORY_MB, waiting: MAX_WAITING }
  return new HelperPool<AssetTask, AssetAnswer>({ module: MODULE, processes, ...limits })
}

/** Limit: drawings of a sprite that may end their process. Each one takes its time limit. */
const MAX_BAD_DRAWINGS = 3

/** `mayPass`: see TaskEnded. */
export type DrawingsOutcome =
  | { readonly ok: true; readonly leftOut: readonly LeftOut[] }
  | { readonly ok: false; readonly reason: string; readonly mayPass: boolean }

/**
 * Runs a task on drawings, and again without each one that ended the process.
 * @param run runs the task without these drawings; its rejections that concern no drawing reject this
 */
export async function drawingsTask(
  run: (without: ReadonlySet<string>) => Promise<AssetAnswer>,
): Promise<DrawingsOutcome> {
  const bad: LeftOut[] = []
  for (;;) {
    try {
      const answer = await run(new Set(bad.map(({ name }) => name)))
      return answer.ok ? { ok: true, leftOut: [...answer.leftOut, ...bad] } : { ...answer, mayPass: false }
    } catch (error) {
      if (!(error instanceof TaskEnded)) throw error
      const { at, message, mayPass } = error
      if (at !== null) bad.push({ name: at, reason: message })
      if (at !== null && bad.length <= MAX_BAD_DRAWINGS) continue
      return { ok: false, reason: bad.length === 0 ? message : wordsOf(bad), mayPass }
    }
  }
}

/** Limit: drawings that a message names. */
const MAX_NAMED = 10

/** Names drawings with their reasons, for a message. */
export function wordsOf(leftOut: readonly LeftOut[]): string {
  const words = leftOut.slice(0, MAX_NAMED).map(({ name, reason }) => `${name}.svg: ${reason}`)
  return [...words, ...(leftOut.length > MAX_NAMED ? [`${leftOut.length - MAX_NAMED} others`] : [])].join('; ')
}
