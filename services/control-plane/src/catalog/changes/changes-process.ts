import { once } from 'node:events'
import { codeOfSentence } from '@gateway/contracts/messages.js'
import { serve } from '@gateway/core/processes/serve.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { type ChangesTask, changedTiles } from '@gateway/tilesets/compare/changed-tiles.js'
import { NotCompared } from '@gateway/tilesets/compare/compare-sets.js'

/** `refused` is the reason if a version cannot be read, which is not a failure of the process; null: all lines were written. */
export type ChangesAnswer = { readonly refused: string | null }

/** Lines are collected up to this size, since a write for each would cost more than the comparison. */
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
    if (error instanceof NotCompared || error instanceof BrokenArchiveError)
      return { refused: codeOfSentence(error.message) }
    throw error
  }
})

/** Writes as fast as the reader takes it. */
async function write(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
}
