import { relative } from 'node:path'
import { BrokenArchiveError } from '@gateway/tiles/broken-archive.js'
import { probeTileSet } from '@gateway/tiles/probe.js'
import type { TileSetProbe } from '@gateway/tiles/tile-set.js'
import type { Candidate } from './candidates.js'
import { quoted } from './found.js'
import { type WalkedSource, warnIn } from './source.js'

/** `busy`: it is there, but another program keeps it locked. `broken` and `empty`: there is nothing that could be served. */
export type Looked =
  | { readonly state: 'ok'; readonly candidate: Candidate; readonly probe: TileSetProbe }
  | { readonly state: 'busy' | 'broken' | 'empty'; readonly candidate: Candidate }

/**
 * Looks into one place that may hold a version. What is wrong with an archive is a warning; that it could not be read (permission, a
 * failing disk) is thrown.
 */
export async function look(source: WalkedSource, candidate: Candidate): Promise<Looked> {
  source.progress()
  const where = quoted(relative(source.root, candidate.entry.path))
  try {
    const probe = await probeTileSet(source.root, candidate.entry.path)
    if (probe === null) return { state: 'empty', candidate }
    for (const warning of probe.warnings) warnIn(source, `${where}: ${warning}`)
    return { state: 'ok', candidate, probe }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof BrokenArchiveError) {
      warnIn(source, `${where} cannot be served: ${message}`)
      return { state: 'broken', candidate }
    }
    if (isBusy(error)) {
      warnIn(source, `${where} stays as it was: another program has locked it`)
      return { state: 'busy', candidate }
    }
    throw new Error(`${where}: ${message}`, { cause: error })
  }
}

/** An MBTiles archive that is being written at this moment. */
function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(String((error as { sqliteCodeName?: unknown }).sqliteCodeName))
}
