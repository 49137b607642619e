import { once } from 'node:events'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { type ChangesTask, changedTiles } from '@gateway/tilesets/compare/changed-tiles.js'
import { NotCompared } from '@gateway/tilesets/compare/compare-sets.js'
import { serve } from '../../platform/helper-process/serve.js'

/** A version that cannot be read is no trouble of the process. `refused` null: all has been written. */
export type ChangesAnswer = { readonly refused: string | null }

/** Lines are gathered: a write for each costs more than the comparison. */
const GATHERED_BYTES = 64 * 1024

serve<ChangesTask, ChangesAnswer>(async (task, progress) => {
  try {
    let lines = ''
    for await (const { z, x, y, change } of changedTiles(task)) {
      lines += `{"z":${z},"x":${x},"y":${y},"change":"${change}"}\n`
      if (lines.length < GATHERED_BYTES) continue
      await write(lines)
      progress()
      lines = ''
    }
    await write(lines)
    return { refused: null }
  } catch (error) {
    if (error instanceof NotCompared || error instanceof BrokenArchiveError) return { refused: error.message }
    throw error
  }
})

/** As fast as the reader takes it. */
async function write(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
}
