import type { StoredBasemap } from '@gateway/store/basemaps.js'
import type { ChangesSince, StoreState } from '@gateway/store/change-log.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import type { CatalogReader, What } from '../sync/catalog-reader.js'

export interface MemoryStore {
  state(): StoreState
  changes(known: StoreState): ChangesSince
  basemaps(): readonly StoredBasemap[]
  vectors?(): readonly StoredVector[]
}

/** Returns a reader of a store in memory. `onRead` may throw, for an unreachable store. */
export function memoryReader(
  store: MemoryStore,
  now: () => number = () => performance.now(),
  onRead: (what: What, about: unknown) => void = () => {},
): CatalogReader {
  const answers: Record<What, (about: never) => unknown> = {
    state: () => store.state(),
    changes: (known: StoreState) => store.changes(known),
    basemapSizes: (codes: readonly string[] | null) =>
      among(codes, store.basemaps()).map(({ code, versions }) => ({ code, rows: versions.length })),
    basemaps: (codes: readonly string[]) => among(codes, store.basemaps()),
    vectorSizes: (codes: readonly string[] | null) =>
      among(codes, store.vectors?.() ?? []).map(({ code }) => ({ code, rows: 1 })),
    vectors: (codes: readonly string[]) => among(codes, store.vectors?.() ?? []),
    styleSizes: () => [],
    styles: () => [],
    fonts: () => [],
    signingSecrets: () => [],
  }
  return {
    async read(what, about) {
      onRead(what, about)
      const askedAt = now()
      const value = answers[what](about as never) as never
      await Promise.resolve()
      return { value, askedAt, answeredAt: now() }
    },
  }
}

function among<T extends { readonly code: string }>(codes: readonly string[] | null, rows: readonly T[]): T[] {
  return rows.filter(({ code }) => codes === null || codes.includes(code))
}
