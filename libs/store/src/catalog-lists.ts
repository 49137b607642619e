import { readBasemaps, type StoredBasemap, type StoredVersion } from './basemaps.js'
import type { Queryable } from './connect.js'
import { foundBy, type Keys, type Listed, type Listing, type ListRequest, readKeys, readList } from './listing.js'
import { readVectors, type StoredVector } from './vectors.js'

// Pages of the catalog for administrators. A first statement finds the codes of the page, and the usual functions read these codes.

const SOME_AVAILABLE = 'EXISTS (SELECT FROM basemap_versions v WHERE v.basemap_code = b.code AND v.available)'

/** A name that an operator set takes precedence over one that a scan found. */
export const SHOWN_NAME = 'coalesce(b.set_name, b.name)'
const SHOWN_STORAGE =
  "CASE WHEN v.storage IN ('xyz', 'tms') THEN coalesce(v.overrides->>'storage', v.storage) ELSE v.storage END"
const SHOWN_FORMAT = "coalesce(v.overrides->>'format', v.format)"
const SHOWN_MIN_ZOOM = "coalesce((v.overrides->>'min_zoom')::int, v.min_zoom)"
const SHOWN_MAX_ZOOM = "coalesce((v.overrides->>'max_zoom')::int, v.max_zoom)"

export const BASEMAP_LISTING = {
  searched: {
    code: 'b.code',
    name: SHOWN_NAME,
    description: 'b.description',
    owner: 'b.owner',
    tags: "array_to_string(b.tags, E'\\n')",
  },
  sortable: {
    code: 'b.code COLLATE "C"',
    name: `lower(${SHOWN_NAME})`,
    owner: 'lower(b.owner)',
    source_code: 'b.source_code',
    created_at: 'b.created_at',
    updated_at: 'b.updated_at',
    withdrawn: 'b.withdrawn',
    versions: '(SELECT count(*) FROM basemap_versions v WHERE v.basemap_code = b.code)',
  },
  nullable: ['owner'],
  order: 'code',
  key: 'b.code COLLATE "C"',
  filters: {
    source_code: 'b.source_code = $',
    available: `${SOME_AVAILABLE} = $`,
    withdrawn: 'b.withdrawn = $',
    source_enabled: 's.enabled = $',
    owner: 'b.owner = $',
    tag: '$ = ANY(b.tags)',
  },
} satisfies Listing

export async function listBasemaps(sql: Queryable, request: ListRequest): Promise<Listed<StoredBasemap>> {
  const selection = { columns: sql`b.code`, from: listedBasemaps(sql) }
  const { items, total } = await readList<{ code: string }>(sql, BASEMAP_LISTING, selection, request)
  const found = await readBasemaps(sql, codesOf(items))
  return { items: inOrderOf(items, found), total }
}

/** Returns the codes of all basemaps that match a list request. */
export function findBasemapCodes(sql: Queryable, request: ListRequest, most: number): Promise<Keys> {
  return readKeys(sql, BASEMAP_LISTING, { columns: sql`b.code AS key`, from: listedBasemaps(sql) }, request, most)
}

function listedBasemaps(sql: Queryable) {
  return sql`basemaps b JOIN scan_sources s ON s.code = b.source_code`
}

export const VERSION_LISTING = {
  searched: {
    'code of its basemap': 'v.basemap_code',
    'name of its basemap': SHOWN_NAME,
    version: 'v.version',
    path: 'v.path',
  },
  sortable: {
    basemap_code: 'v.basemap_code COLLATE "C"',
    version: 'v.version COLLATE "C"',
    storage: SHOWN_STORAGE,
    format: SHOWN_FORMAT,
    tile_size: 'v.tile_size',
    min_zoom: SHOWN_MIN_ZOOM,
    max_zoom: SHOWN_MAX_ZOOM,
    revision: 'v.revision',
    scanned_at: 'v.scanned_at',
    available: 'v.available',
    withdrawn: 'v.withdrawn',
  },
  order: 'basemap_code',
  key: 'v.basemap_code COLLATE "C", v.version COLLATE "C"',
  filters: {
    basemap_code: 'v.basemap_code = $',
    source_code: 'b.source_code = $',
    storage: `${SHOWN_STORAGE} = $`,
    format: `${SHOWN_FORMAT} = $`,
    available: 'v.available = $',
    withdrawn: '(v.withdrawn OR b.withdrawn) = $',
    held: "(v.review IS NOT DISTINCT FROM 'held') = $",
    source_enabled: 's.enabled = $',
    scan: foundBy('b.source_code', 'v.found_at'),
  },
} satisfies Listing

/** Lists versions of all basemaps. */
export async function listVersions(
  sql: Queryable,
  request: ListRequest,
): Promise<Listed<StoredVersion & { readonly basemapCode: string }>> {
  const selection = {
    columns: sql`v.basemap_code AS code, v.version`,
    from: sql`
      basemap_versions v JOIN basemaps b ON b.code = v.basemap_code JOIN scan_sources s ON s.code = b.source_code`,
  }
  const { items, total } = await readList<{ code: string; version: string }>(sql, VERSION_LISTING, selection, request)
  const basemaps = new Map((await readBasemaps(sql, codesOf(items))).map((basemap) => [basemap.code, basemap]))
  const versions = items.flatMap(({ code, version }) => {
    const found = basemaps.get(code)?.versions.find((stored) => stored.version === version)
    return found === undefined ? [] : [{ ...found, basemapCode: code }]
  })
  return { items: versions, total }
}

/** The same status as that of `toVector`. */
const TILES_STATUS = `CASE WHEN NOT v.tiles_wanted THEN 'none' WHEN v.available AND v.build_tried < v.revision THEN 'building'
  WHEN v.build_message <> '' THEN 'failed' WHEN v.build->>'maxZoom' IS NULL THEN 'none' ELSE 'ready' END`

export const VECTOR_LISTING = {
  searched: { code: 'v.code', name: 'v.name', 'relative path': 'v.relative_path' },
  sortable: {
    code: 'v.code COLLATE "C"',
    name: 'lower(v.name)',
    kind: 'coalesce(v.format, v.kind)',
    relative_path: 'v.relative_path COLLATE "C"',
    file_name: 'v.file_name',
    size: 'v.size',
    modified_at: 'v.modified_at',
    source_code: 'v.source_code',
    available: 'v.available',
    withdrawn: 'v.withdrawn',
  },
  order: 'code',
  key: 'v.code COLLATE "C"',
  filters: {
    kind: 'coalesce(v.format, v.kind) = $',
    tiles_status: `${TILES_STATUS} = $`,
    source_code: 'v.source_code = $',
    available: 'v.available = $',
    withdrawn: 'v.withdrawn = $',
    source_enabled: 's.enabled = $',
    scan: foundBy('v.source_code', 'v.found_at'),
  },
} satisfies Listing

export async function listVectors(sql: Queryable, request: ListRequest): Promise<Listed<StoredVector>> {
  const selection = { columns: sql`v.code`, from: listedVectors(sql) }
  const { items, total } = await readList<{ code: string }>(sql, VECTOR_LISTING, selection, request)
  const found = await readVectors(sql, codesOf(items))
  return { items: inOrderOf(items, found), total }
}

/** Returns the codes of all vectors that match a list request. */
export function findVectorCodes(sql: Queryable, request: ListRequest, most: number): Promise<Keys> {
  return readKeys(sql, VECTOR_LISTING, { columns: sql`v.code AS key`, from: listedVectors(sql) }, request, most)
}

function listedVectors(sql: Queryable) {
  return sql`vectors v JOIN scan_sources s ON s.code = v.source_code`
}

function codesOf(rows: readonly { readonly code: string }[]): string[] {
  return [...new Set(rows.map(({ code }) => code))]
}

/** Sorts rows in the order of the page. Rows that were removed between the two statements are omitted. */
function inOrderOf<T extends { readonly code: string }>(page: readonly { code: string }[], found: readonly T[]): T[] {
  const byCode = new Map(found.map((item) => [item.code, item]))
  return page.flatMap(({ code }) => byCode.get(code) ?? [])
}
