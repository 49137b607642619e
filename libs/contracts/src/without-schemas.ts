// Values of the contracts that the console imports. This file imports no schemas, which would add their library to the pages.

/** The kinds of items that operators can be notified of; the same as in the console's list of items that need attention. */
export const NOTIFICATION_KINDS = [
  'push_failed',
  'slice_failed',
  'scan_failed',
  'export_failed',
  'unavailable',
  'token_expiring',
  'edge_gone',
] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]

/** Limit: bytes of a vector that is drawn from its GeoJSON while it has no tiles. Browsers draw this in some seconds. */
export const MAX_WHOLE_BYTES = 20e6

/** Response header by which the control plane names a refusal, for the counters of edges and for operators. Other callers behind an edge do not see it. */
export const REFUSAL_HEADER = 'x-refusal'

/** Response header with the sentences of a refusal by code and parameters, `[[code, params], ...]` as percent-encoded JSON, for the same callers. */
export const REFUSAL_DETAILS_HEADER = 'x-refusal-details'

/** The amounts of usage by name, in one order everywhere. */
export const USAGE_AMOUNTS = ['requests', 'tiles', 'tile_404', 'refused', 'bytes'] as const

/** Kinds of vectors whose texts may be in any encoding, which an operator can set. The other formats prescribe theirs. */
export const WITH_ENCODING: ReadonlySet<string> = new Set([
  'shapefile',
  'zipped_shapefile',
  'geojson',
  'geojson_sequence',
  'csv',
])
