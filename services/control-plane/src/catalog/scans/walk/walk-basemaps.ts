import { readAhead } from '@gateway/core/files/read-ahead.js'
import { Prober } from '../../probe/prober.js'
import { SkippedFiles } from '../skipped/skipped-files.js'
import { type Candidate, findCandidates } from './candidates.js'
import type { FoundBasemaps } from './found.js'
import { gatherVersions } from './gather-versions.js'
import { listEntries } from './list-entries.js'
import { type ProbedCandidate, probeCandidate } from './probe-candidate.js'
import { tablesOf } from './tables-of.js'
import { openSource } from './walked-source.js'

/** Maximum number of versions that are probed at the same time: the number of the process's threads for file calls. Archives are probed one at a time. */
const PROBED_AT_ONCE = 4

/** A walk is cancelled by killing its process, which includes the prober. */
const NEVER = new AbortController().signal

/**
 * Finds the basemaps of a source: `{code}/{version}/{z}/{x}/{y}`, `{code}/{version}.mbtiles|.pmtiles`, archives of other makers in these places, and, as
 * the only version `default`, `{code}/{z}/{x}/{y}` and `{code}.mbtiles|.pmtiles`. Lists folders, and probes one tile or the archive of each version.
 * Throws, without any result, if a folder cannot be listed, an archive cannot be opened, or the source does not exist.
 */
export async function walkBasemaps(root: string, progress: () => void, prober = new Prober()): Promise<FoundBasemaps> {
  const source = openSource(root, progress)
  const list = (path: string) => listEntries(source, path)
  const probed: ProbedCandidate[] = []
  try {
    const candidates = await findCandidates(source, list)
    const skipped = new SkippedFiles()
    const all: Candidate[] = []
    for (const candidate of candidates) all.push(...(await tablesOf(source, candidate, prober, skipped)))
    const probe = readAhead(all, PROBED_AT_ONCE, ({ entry }) => prober.probe(source.root, entry.path, NEVER))
    for (const one of all) probed.push(await probeCandidate(source, one, { probe }, skipped))
    skipped.warnOfAll(source.warnings)
  } finally {
    prober.end()
  }
  const gathered = await gatherVersions(probed, source, list)
  source.assertStillThere()
  return { ...gathered, warnings: source.warnings }
}
