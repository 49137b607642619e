import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { readBasemap, type StoredBasemap } from '@gateway/store/basemaps.js'
import type { Queryable } from '@gateway/store/connect.js'
import { NO_SUCH_BASEMAP } from '../../platform/http/refusal.js'

const NO_SUCH_VERSION = refuse('not_found', coded('version_not_of_this_basemap'))
const ALIAS = refuse('invalid_parameters', coded('version_is_alias', { alias: CURRENT_VERSION }))
const UNAVAILABLE = refuse('invalid_parameters', coded('version_not_scanned'))
const WITHDRAWN = refuse('invalid_parameters', coded('version_restore_first'))
const HELD = refuse('invalid_parameters', coded('version_held'))

/** Returns the basemap if one of its versions may become the default now, or else the refusal. */
export async function checkNewDefault(
  sql: Queryable,
  code: string,
  version: string,
): Promise<{ readonly ok: true; readonly basemap: StoredBasemap } | Refusal> {
  if (version === CURRENT_VERSION) return ALIAS
  const basemap = await readBasemap(sql, code)
  if (basemap === null) return NO_SUCH_BASEMAP
  const wanted = basemap.versions.find((known) => known.version === version)
  if (wanted === undefined) return NO_SUCH_VERSION
  if (!wanted.available) return UNAVAILABLE
  if (wanted.review) return HELD
  return wanted.withdrawn ? WITHDRAWN : { ok: true, basemap }
}
