import { type CodedMessage, messageOfError } from '@gateway/contracts/messages.js'
import { blockWhileFast } from '@gateway/core/files/paced-calls.js'
import { serve } from '@gateway/core/processes/serve.js'
import type { FoundBasemaps, FoundStyles, FoundVectors } from './found.js'
import type { KnownFiles } from './vector-walk.js'

/** The paths below the source that are looked at; null: everything is. */
type Changed = readonly string[] | null

export type WalkTask =
  /** `memory`: the file that keeps the probes for the next walk over everything; null: none */
  | { readonly kind: 'basemap'; readonly root: string; readonly changed?: Changed; readonly memory?: string | null }
  | { readonly kind: 'style'; readonly root: string }
  | {
      readonly kind: 'vector'
      readonly root: string
      readonly changed?: Changed
      readonly known: KnownFiles
      /** directory for temporary files */
      readonly scratch: string
    }

/** The result of a walk, with the number of listed folders and read files. */
export type Found = { readonly steps: number } & (
  | { readonly kind: 'basemap'; readonly found: FoundBasemaps }
  | { readonly kind: 'vector'; readonly found: FoundVectors }
  | { readonly kind: 'style'; readonly found: FoundStyles }
)

/** Errors lose their fields between processes, so the relevant ones are sent as a value. */
export type WalkAnswer =
  | ({ readonly ok: true } & Found)
  | { readonly ok: false; readonly code: string | undefined; readonly said: CodedMessage }

blockWhileFast()
serve<WalkTask, WalkAnswer>(async (task, report) => {
  let steps = 0
  const progress = () => {
    steps++
    report()
  }
  try {
    // A process walks one source, so it loads only the code for that kind.
    if (task.kind === 'basemap') {
      const { walkBasemaps } = await import('./walk-basemaps.js')
      const { changed = null, memory = null } = task
      const found = await walkBasemaps(task.root, progress, { changed, memoryFile: memory })
      return { ok: true, kind: 'basemap', found, steps }
    }
    if (task.kind === 'style') {
      const { walkStyles } = await import('./walk-styles.js')
      return { ok: true, kind: 'style', found: await walkStyles(task.root, () => progress()), steps }
    }
    const { walkVectors } = await import('./walk-vectors.js')
    return {
      ok: true,
      kind: 'vector',
      found: await walkVectors(task.root, task.known, progress, {
        scratch: task.scratch,
        changed: task.changed ?? null,
      }),
      steps,
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { ok: false, code, said: messageOfError(error) }
  }
})
