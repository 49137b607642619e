import { serve } from '../../../platform/helper-process/serve.js'
import type { FoundBasemaps, FoundVectors } from './found.js'
import { walkBasemaps } from './walk-basemaps.js'
import { type KnownFingerprints, walkVectors } from './walk-vectors.js'

export type WalkTask =
  | { readonly kind: 'basemap'; readonly root: string }
  | { readonly kind: 'vector'; readonly root: string; readonly known: KnownFingerprints }

export type Found =
  | { readonly kind: 'basemap'; readonly found: FoundBasemaps }
  | { readonly kind: 'vector'; readonly found: FoundVectors }

/** The fields of an error are lost between processes, so that what matters of it is sent as a value. */
export type WalkAnswer =
  | ({ readonly ok: true } & Found)
  | { readonly ok: false; readonly code: string | undefined; readonly message: string }

serve<WalkTask, WalkAnswer>(async (task, progress) => {
  try {
    return task.kind === 'basemap'
      ? { ok: true, kind: 'basemap', found: await walkBasemaps(task.root, progress) }
      : { ok: true, kind: 'vector', found: await walkVectors(task.root, task.known, progress) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { ok: false, code, message }
  }
})
