import { Prober } from '../../probe/prober.js'
import { SkippedFiles } from '../skipped/skipped-files.js'
import { findCandidates } from './candidates.js'
import type { FoundBasemaps } from './found.js'
import { gatherVersions } from './gather-versions.js'
import { listEntries } from './list-entries.js'
import { type ProbedCandidate, probeCandidate } from './probe-candidate.js'
import { tablesOf } from './tables-of.js'
import { openSource } from './walked-source.js'

/**
 * Finds the basemaps of a source: `{code}/{version}/{z}/{x}/{y}`, `{code}/{version}.mbtiles|.pmtiles`, archives of other makers in these places, and with the only version
 * `default` `{code}/{z}/{x}/{y}`, `{code}.mbtiles|.pmtiles`. Lists folders, and probes one tile or the archive of each version.
 * Throws, with nothing found, where a folder cannot be listed, an archive cannot be opened, or the source itself is not there.
 */
export async function walkBasemaps(root: string, progress: () => void, prober = new Prober()): Promise<FoundBasemaps> {
  const source = openSource(root, progress)
  const list = (path: string) => listEntries(source, path)
  const probed: ProbedCandidate[] = []
  try {
    const candidates = await findCandidates(source, list)
    const skipped = new SkippedFiles()
    for (const candidate of candidates) {
      for (const one of await tablesOf(source, candidate, prober, skipped))
        probed.push(await probeCandidate(source, one, prober, skipped))
    }
    skipped.warnOfAll(source.warnings)
  } finally {
    prober.end()
  }
  const gathered = await gatherVersions(probed, source, list)
  source.assertStillThere()
  return { ...gathered, warnings: source.warnings }
}
