import type { Export } from '@gateway/contracts/export.js'

type Archive = Pick<Export, 'version' | 'from_version'> & { readonly bytes: number }

export interface Way {
  readonly bytes: number
  /** one after the other */
  readonly archives: number
}

/** Exports by which a device keeps a copy: written, of PMTiles, and of the whole area. */
export function archivesIn(exports: readonly Export[]): readonly Archive[] {
  return exports.flatMap(({ status, format, bounds, bytes, version, from_version }) =>
    status === 'succeeded' && format === 'pmtiles' && bounds === null && bytes !== null
      ? [{ version, from_version, bytes }]
      : [],
  )
}

/**
 * The fewest bytes by which a device that has one version, or none (null), gets another. null: no archives lead there. keep.mjs of the examples
 * chooses the same.
 */
export function wayBetween(archives: readonly Archive[], from: string | null, to: string): Way | null {
  const best = new Map<string | null, Way>([[from, { bytes: 0, archives: 0 }]])
  // Each round finds ways by one archive more.
  for (let improved = true; improved; ) {
    improved = false
    for (const archive of archives) {
      const before = [...best].filter(([at]) => archive.from_version === null || archive.from_version === at)
      for (const [, way] of before) {
        const bytes = way.bytes + archive.bytes
        if (bytes >= (best.get(archive.version)?.bytes ?? Number.POSITIVE_INFINITY)) continue
        best.set(archive.version, { bytes, archives: way.archives + 1 })
        improved = true
      }
    }
  }
  return best.get(to) ?? null
}
