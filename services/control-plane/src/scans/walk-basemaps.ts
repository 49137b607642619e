import { findCandidates } from './candidates.js'
import type { FoundBasemaps } from './found.js'
import { gather } from './gather-versions.js'
import { type Looked, look } from './look-into.js'
import { openSource } from './source.js'

/**
 * Finds the basemaps of a source: `{code}/{version}/{z}/{x}/{y}`, `{code}/{version}.mbtiles|.pmtiles`, and with the only version
 * `default` `{code}/{z}/{x}/{y}`, `{code}.mbtiles|.pmtiles`. Lists folders, and looks into one tile or archive of each version.
 * Throws, with nothing found, where a folder cannot be listed, an archive cannot be opened, or the source itself is not there.
 */
export async function walkBasemaps(root: string, progress: () => void): Promise<FoundBasemaps> {
  const source = openSource(root, progress)
  const looked: Looked[] = []
  for (const candidate of findCandidates(source)) looked.push(await look(source, candidate))
  source.assertStillThere()
  return { ...gather(looked, source), warnings: source.warnings }
}
