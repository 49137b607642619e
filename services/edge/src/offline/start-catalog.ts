import type { Log } from '@gateway/core/logging/log.js'
import { CLOCKS, type KeptFacts, type KeptFile } from './kept-file.js'
import { type Rows, readRows } from './kept-rows.js'

/** The state with which an edge process starts while the store is unreachable. */
export interface StartCatalog extends KeptFacts, Rows {
  /** Time in ms of the clock shared by all processes of this machine, when the catalog was last known to be the store's newest state. */
  readonly currentAtHostMs: number
}

/**
 * Reads the kept state. Returns null, with one line in the log, if it may not be used: because it is damaged, of another store or version,
 * or older than `trustMs`, the time for which an edge that is cut off continues. Never rejects.
 */
export async function startCatalog(file: KeptFile, trustMs: number, log: Log): Promise<StartCatalog | null> {
  try {
    const kept = await file.read()
    if (kept === null) {
      log.info('the store is unreachable, and no catalog was kept on disk')
      return null
    }
    const { content, ageMs, ...facts } = kept
    if (ageMs > trustMs) throw new Error(`it is ${Math.round(ageMs / 1000)} s old, more than TOKEN_OFFLINE_SECONDS`)
    const rows = readRows(content)
    const seconds = Math.round(ageMs / 1000)
    log.warn(
      { ageSeconds: seconds, basemaps: rows.basemaps.length },
      'the store is unreachable: starts from the catalog kept on disk',
    )
    return { ...facts, ...rows, currentAtHostMs: CLOCKS.host() - ageMs }
  } catch (error) {
    log.warn({ err: (error as Error).message }, 'the store is unreachable, and the catalog kept on disk is not used')
    return null
  }
}
