import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { parseInstant } from '@gateway/tilesets/instant.js'
import type { Edge } from '../edge.js'
import { type CatalogBasemap, withDefault } from '../sync/catalog.js'

const MALFORMED_TIME = refuse('invalid_parameters', coded('time_malformed'))
const NO_VERSION_THEN = refuse('not_found', coded('no_version_then'))

/** Returns the value of `at` in a query, or null if it is missing. */
export function atIn(query: string): string | null {
  return namesTime(query) ? new URLSearchParams(query).get('at') : null
}

/** True if the query has a parameter `at`; the native tier checks it in the same way. */
function namesTime(query: string): boolean {
  return query.includes('at=') && /(?:^|&)at=/.test(query)
}

/** True if a label names no fixed version. */
export function isUnfixed(label: string | null): boolean {
  return label === null || label === CURRENT_VERSION
}

/**
 * Returns the label of the version that was the default of a basemap at a time. Returns null for the present or the future, which mean the current
 * default, and for a basemap that does not exist. Refuses a version that was deleted, withdrawn or is unavailable.
 */
export function labelAt(
  edge: Edge,
  code: string,
  time: string,
): { readonly ok: true; readonly label: string | null } | Refusal {
  // biome-ignore lint/plugin: calendar, by which defaults are remembered
  const now = Date.now()
  const ms = parseInstant(time, now)
  if (ms === null) return MALFORMED_TIME
  const basemap = edge.freshness.catalog.basemaps.get(code)
  if (basemap === undefined || ms >= now) return { ok: true, label: null }
  const label = defaultAt(basemap, ms)
  return label === null || !basemap.versions.has(label) ? NO_VERSION_THEN : { ok: true, label }
}

/** Returns a basemap with the default version of a time, or unchanged if `label` is null. */
export function basemapAt(basemap: CatalogBasemap, label: string | null): CatalogBasemap {
  return label === null ? basemap : withDefault(basemap, label)
}

function defaultAt({ stored }: CatalogBasemap, ms: number): string | null {
  for (const { version, defaultTimes } of stored.versions) {
    const isThen = defaultTimes?.some(({ sinceMs, untilMs }) => sinceMs <= ms && (untilMs === null || ms < untilMs))
    if (isThen) return version
  }
  return null
}
