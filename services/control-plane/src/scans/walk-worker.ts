import type { FoundBasemaps, FoundVectors } from './found.js'
import { walkBasemaps } from './walk-basemaps.js'
import { type KnownFingerprints, walkVectors } from './walk-vectors.js'

/** What a thread is asked for. `pulse` holds one 32-bit number that grows while the walk gets on. */
export type WalkTask = { readonly root: string; readonly pulse: SharedArrayBuffer } & (
  | { readonly kind: 'basemap' }
  | { readonly kind: 'vector'; readonly known: KnownFingerprints }
)

export type Found =
  | { readonly kind: 'basemap'; readonly found: FoundBasemaps }
  | { readonly kind: 'vector'; readonly found: FoundVectors }

/** An error's own fields do not survive the way between threads: what counts of it travels as a value. */
export type WalkAnswer =
  | ({ readonly ok: true } & Found)
  | { readonly ok: false; readonly code: string | undefined; readonly message: string }

export default async function walk(task: WalkTask): Promise<WalkAnswer> {
  const pulse = new Int32Array(task.pulse)
  const progress = () => void Atomics.add(pulse, 0, 1)
  try {
    return task.kind === 'basemap'
      ? { ok: true, kind: 'basemap', found: await walkBasemaps(task.root, progress) }
      : { ok: true, kind: 'vector', found: walkVectors(task.root, task.known, progress) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { ok: false, code, message }
  }
}
