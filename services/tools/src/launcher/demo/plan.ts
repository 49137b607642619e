import type { ScanSource } from '@gateway/contracts/scan-source.js'

export const DEMO_BASEMAPS = 'demo-basemaps'
export const DEMO_VECTORS = 'demo-vectors'
export const DEMO_STYLES = 'demo-styles'
const DEMO_SOURCES: readonly string[] = [DEMO_BASEMAPS, DEMO_VECTORS, DEMO_STYLES]

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
  const demo = sources.filter(({ code }) => DEMO_SOURCES.includes(code))
  if (demo.length === 0) return catalogued === 0 ? 'fill' : 'none'
  const complete =
    demo.length === DEMO_SOURCES.length && demo.every(({ last_scan }) => last_scan?.status === 'succeeded')
  return complete ? 'keep' : 'fill'
}
