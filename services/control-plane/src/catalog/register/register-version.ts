import { cleanText } from '@gateway/contracts/storable-text.js'
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

/**
 * Adds one version to the catalog within the caller's transaction, like a scan. A layer that was just sliced appears in this way.
 * Throws if the code belongs to another scan source, whose basemap would be damaged.
 * @param version as built by `versionRecord` from the result of `probeTileSet`
 * @param makeDefault makes it the default version, in the same step
 * @returns entries for the change log
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
  // The caller has just written the version, even if the fields that a scan compares are unchanged.
  const registered = await readBasemap(tx, basemap.code)
  await growRevision(tx, basemap.code, version.version)
  // A held version does not become the default: until its approval, readers would get the highest other version.
  const isHeld = registered?.versions.some(
    ({ version: label, review }) => label === version.version && review === 'held',
  )
  if (makeDefault && !isHeld) await setDefaultVersion(tx, basemap.code, version.version)
  return [{ kind: 'basemap', key: basemap.code }]
}
