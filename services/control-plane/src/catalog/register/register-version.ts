import {
  growRevision,
  type NewBasemap,
  type NewVersion,
  readBasemap,
  setDefaultVersion,
  upsertBasemap,
  upsertVersion,
} from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { cleanText } from './storable-text.js'

/**
 * Puts one version into the catalog within the caller's transaction, as a scan would: how a layer that was just sliced appears by itself.
 * Throws where the code belongs to another scan source, whose basemap it would spoil.
 * @param version as `versionRecord` makes it of what `probeTileSet` says
 * @param makeDefault makes it what `current` means, in the same step
 * @returns what the change log must receive
 */
export async function registerVersion(
  tx: Transaction,
  basemap: NewBasemap,
  version: NewVersion,
  makeDefault: boolean,
): Promise<readonly NewChange[]> {
  await upsertBasemap(tx, { ...basemap, name: cleanText(basemap.name) })
  const owner = (await readBasemap(tx, basemap.code))?.sourceCode
  if (owner !== basemap.sourceCode) throw new Error(`basemap "${basemap.code}" belongs to scan source "${owner}"`)
  await upsertVersion(tx, basemap.code, version)
  // Whoever registers a version has just written it, whether or not that shows in what a scan looks at.
  const registered = await readBasemap(tx, basemap.code)
  await growRevision(tx, basemap.code, version.version)
  // Not one that is held: its readers would get the highest other version until it is approved.
  const isHeld = registered?.versions.some(
    ({ version: label, review }) => label === version.version && review === 'held',
  )
  if (makeDefault && !isHeld) await setDefaultVersion(tx, basemap.code, version.version)
  return [{ kind: 'basemap', key: basemap.code }]
}
