import { readAhead } from '@gateway/core/files/read-ahead.js'
import { Prober } from '../../probe/prober.js'
import { SkippedFiles } from '../skipped/skipped-files.js'
import { type Candidate, findCandidates } from './candidates.js'
import { codesOfPaths, namedByNewest, splitByChange } from './changed-versions.js'
import type { FoundBasemaps } from './found.js'
import { gatherVersions } from './gather-versions.js'
import { listEntries } from './list-entries.js'
import { type ProbedCandidate, probeCandidate } from './probe-candidate.js'
import { RememberedProbes } from './remembered-probes.js'
import { tablesOf } from './tables-of.js'
import { openSource } from './walked-source.js'

/** Maximum number of versions that are probed at the same time: the number of the process's threads for file calls. Archives are probed one at a time. */
const PROBED_AT_ONCE = 4

/** A walk is cancelled by killing its process, which includes the prober. */
const NEVER = new AbortController().signal

/**
 * Finds the basemaps of a source: `{code}/{version}/{z}/{x}/{y}`, `{code}/{version}.mbtiles|.pmtiles`, archives of other makers in these places, and with the only version
 * `default` `{code}/{z}/{x}/{y}`, `{code}.mbtiles|.pmtiles`. Lists folders, and probes one tile or the archive of each version.
 * Throws, without any result, if a folder cannot be listed, an archive cannot be opened, or the source does not exist.
 * @param changed versions at these paths below the source are probed, and the others keep their known state; null: all are probed
 * @param memoryFile keeps the probes of folders, which are not probed again until they change; null: all are probed
 */
export async function walkBasemaps(
  root: string,
  progress: () => void,
  { prober = new Prober(), changed = null as readonly string[] | null, memoryFile = null as string | null } = {},
): Promise<FoundBasemaps> {
  const memory = new RememberedProbes(memoryFile, root)
  const source = openSource(root, progress)
  const list = (path: string) => listEntries(source, path)
  const probed: ProbedCandidate[] = []
  const unprobed: Candidate[] = []
  try {
    const candidates = await findCandidates(source, list, changed && codesOfPaths(changed))
    const { touched, untouched } = splitByChange(candidates, changed, root)
    unprobed.push(...untouched)
    const skipped = new SkippedFiles()
    const all: Candidate[] = []
    for (const candidate of touched) all.push(...(await tablesOf(source, candidate, prober, skipped)))
    const look = (path: string) => prober.probe(source.root, path, NEVER)
    const probe = readAhead(all, PROBED_AT_ONCE, ({ entry: { kind, path } }) =>
      kind === 'directory' ? memory.probe(path, () => look(path)) : look(path),
    )
    for (const one of all) probed.push(await probeCandidate(source, one, { probe }, skipped))
    skipped.warnOfAll(source.warnings)
  } finally {
    prober.end()
  }
  const gathered = await gatherVersions(probed, source, list)
  source.assertStillThere()
  memory.save()
  const basemaps = gathered.basemaps.map((basemap) => namedByNewest(basemap, unprobed))
  return { basemaps, uncertain: [...gathered.uncertain, ...unprobed], warnings: source.warnings }
}
