import { BrokenArchiveError } from '@gateway/tiles/broken-archive.js'
import { probeArchive } from '@gateway/tiles/probe.js'
import type { TileSetProbe } from '@gateway/tiles/tile-set.js'
import { looksLikeGeojson } from './geojson.js'

/** Looking into a file costs processor time, not only waiting: it happens in a thread, so that requests go on. */
export type ExamineTask =
  | { readonly kind: 'archive'; readonly root: string; readonly path: string }
  | { readonly kind: 'geojson'; readonly root: string; readonly path: string }

/** Errors as words: an exception's class does not survive the way between threads. */
export type ArchiveFinding =
  | { readonly state: 'ok'; readonly probe: TileSetProbe }
  | { readonly state: 'empty' }
  | { readonly state: 'broken'; readonly reason: string }
  | { readonly state: 'unreadable'; readonly reason: string }

export type Finding<T extends ExamineTask> = T extends { kind: 'archive' } ? ArchiveFinding : boolean

export default async function examine(task: ExamineTask): Promise<ArchiveFinding | boolean> {
  if (task.kind === 'geojson') return looksLikeGeojson(task.root, task.path)
  try {
    const probe = await probeArchive(task.root, task.path)
    return probe === null ? { state: 'empty' } : { state: 'ok', probe }
  } catch (error) {
    const reason = (error as Error).message
    return { state: error instanceof BrokenArchiveError ? 'broken' : 'unreadable', reason }
  }
}
