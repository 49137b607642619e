import {
  type NewBasemap,
  type NewVersion,
  setDefaultVersion,
  upsertBasemap,
  upsertVersion,
} from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'

/**
 * Puts one version into the catalog within the caller's transaction, as a scan would: how a layer that was just sliced appears by itself.
 * @param makeDefault makes it what `current` means, in the same step
 * @returns what the change log must receive
 */
export async function registerVersion(
  tx: Transaction,
  basemap: NewBasemap,
  version: NewVersion,
  makeDefault: boolean,
): Promise<readonly NewChange[]> {
  await upsertBasemap(tx, basemap)
  await upsertVersion(tx, basemap.code, version)
  if (makeDefault) await setDefaultVersion(tx, basemap.code, version.version)
  return [{ kind: 'basemap', key: basemap.code }]
}
