import type { ScanSource } from '@gateway/contracts/scan-source.js'

export const DEMO_BASEMAPS = 'demo-basemaps'
export const DEMO_VECTORS = 'demo-vectors'

/** What the start has to do about demo data. */
export type DemoPlan =
  /** fill the catalog, or finish filling it where an earlier start was cut off */
  | 'fill'
  /** the demo is there */
  | 'keep'
  /** the catalog holds data of its own */
  | 'none'

/** @param catalogued how many basemaps and vectors the catalog holds, of whatever source */
export function planDemo(sources: readonly ScanSource[], catalogued: number): DemoPlan {
  const demo = sources.filter(({ code }) => code === DEMO_BASEMAPS || code === DEMO_VECTORS)
  if (demo.length === 0) return catalogued === 0 ? 'fill' : 'none'
  const complete = demo.length === 2 && demo.every(({ last_scan }) => last_scan?.status === 'succeeded')
  return complete ? 'keep' : 'fill'
}
