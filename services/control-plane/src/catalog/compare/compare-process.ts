import { codeOfSentence } from '@gateway/contracts/messages.js'
import { serve } from '@gateway/core/processes/serve.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { type CompareTask, type Comparison, compareSets, NotCompared } from '@gateway/tilesets/compare/compare-sets.js'

/** `refused`: a version cannot be read, which is not a failure of the process. */
export type CompareAnswer = Comparison | { readonly refused: string }

serve<CompareTask, CompareAnswer>(async (task) => {
  try {
    return await compareSets(task)
  } catch (error) {
    if (error instanceof NotCompared || error instanceof BrokenArchiveError)
      return { refused: codeOfSentence(error.message) }
    throw error
  }
})
