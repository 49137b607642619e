import type { ScanSource } from '@gateway/contracts/scan-source.js'

export const DEMO_BASEMAPS = 'demo-basemaps'
export const DEMO_VECTORS = 'demo-vectors'

/** The required action for demo data at a start. */
export type DemoPlan =
  /** fill the catalog, or continue an interrupted filling */
  | 'fill'
  /** the demo exists */
  | 'keep'
  /** the catalog has other data */
  | 'none'

/** @param catalogued number of basemaps and vectors in the catalog, from all sources */
export function planDemo(sources: readonly ScanSource[], catalogued: number): DemoPlan {
  const demo = sources.filter(({ code }) => code === DEMO_BASEMAPS || code === DEMO_VECTORS)
  if (demo.length === 0) return catalogued === 0 ? 'fill' : 'none'
  const complete = demo.length === 2 && demo.every(({ last_scan }) => last_scan?.status === 'succeeded')
  return complete ? 'keep' : 'fill'
}
