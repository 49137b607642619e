import { relative } from 'node:path'
import { codeSchema } from '@gateway/contracts/common.js'
import { coded } from '@gateway/contracts/messages.js'
import { geopackagePlace, pathOfTable } from '@gateway/tilesets/geopackage/place.js'
import type { Prober } from '../../probe/prober.js'
import type { SkippedFiles } from '../skipped/skipped-files.js'
import type { Candidate } from './candidates.js'
import { quoted } from './found.js'
import { type WalkedPlace, warnIn } from './walked-source.js'

/** A walk is cancelled by killing its process, and with it the prober's. */
const NEVER = new AbortController().signal

/**
 * A candidate, or of a GeoPackage one for each table of tiles in it: several tables are several basemaps, whose codes have the table's name behind that of the
 * file (`city_streets`). A file that cannot be read stays as it is, for its probe to say why; one without tiles is told of.
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
  // Its probe meets the same, and says so.
  if (listed.state !== 'ok') return [candidate]
  if (listed.probe.length === 0) skipped.add(path, { code: 'scan_geopackage_in_basemap_source', format: 'GeoPackage' })
  return listed.probe.flatMap((table) => {
    const own = listed.probe.length === 1 ? code : `${code}_${table}`
    // A table's name is a part of its version's path.
    if (table.includes('/') || table === '.' || table === '..' || !codeSchema.safeParse(own).success) {
      warnIn(source, coded('scan_no_code', { file: quoted(`${path}/${table}`) }))
      return []
    }
    return [{ code: own, version, entry: { ...entry, path: pathOfTable(entry.path, table) } }]
  })
}
