import { relative } from 'node:path'
import { codeSchema } from '@gateway/contracts/common.js'
import { coded } from '@gateway/contracts/messages.js'
import { geopackagePlace, pathOfTable } from '@gateway/tilesets/geopackage/place.js'
import type { Prober } from '../../probe/prober.js'
import type { SkippedFiles } from '../skipped/skipped-files.js'
import type { Candidate } from './candidates.js'
import { quoted } from './found.js'
import { type WalkedPlace, warnIn } from './walked-source.js'

/** A walk is cancelled by killing its process, which includes the prober. */
const NEVER = new AbortController().signal

/**
 * Returns a candidate, or for a GeoPackage one for each of its tile tables. Several tables are several basemaps, whose codes consist of the name of the
 * file and that of the table (`city_streets`). A file that cannot be read stays one candidate, whose probe reports the reason. A file without tiles is
 * reported as skipped.
 */
export async function tablesOf(
  source: WalkedPlace,
  candidate: Candidate,
  prober: Pick<Prober, 'tileTables'>,
  skipped: SkippedFiles,
): Promise<Candidate[]> {
  const { code, version, entry } = candidate
  if (entry.kind !== 'file' || geopackagePlace(entry.path) === null) return [candidate]
  const path = relative(source.root, entry.path)
  const listed = await prober.tileTables(source.root, entry.path, NEVER)
  if (listed.state === 'empty') return []
  // The probe will meet and report the same problem.
  if (listed.state !== 'ok') return [candidate]
  if (listed.probe.length === 0) skipped.add(path, { code: 'scan_geopackage_in_basemap_source', format: 'GeoPackage' })
  return listed.probe.flatMap((table) => {
    const own = listed.probe.length === 1 ? code : `${code}_${table}`
    // The name of a table is part of its version's path.
    if (table.includes('/') || table === '.' || table === '..' || !codeSchema.safeParse(own).success) {
      warnIn(source, coded('scan_table_left_out', { file: quoted(path), table: quoted(table) }))
      return []
    }
    return [{ code: own, version, entry: { ...entry, path: pathOfTable(entry.path, table) } }]
  })
}
