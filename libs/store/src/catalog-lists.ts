import { readBasemaps, type StoredBasemap, type StoredVersion } from './basemaps.js'
import type { Queryable } from './connect.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'
import { readVectors, type StoredVector } from './vectors.js'

// Pages of the catalog for administrators: the page is found by its codes, and what has these codes is read as it is everywhere.

const SOME_AVAILABLE = 'EXISTS (SELECT FROM basemap_versions v WHERE v.basemap_code = b.code AND v.available)'

export const BASEMAP_LISTING = {
  searched: { code: 'b.code', name: 'b.name' },
  sortable: {
    code: 'b.code COLLATE "C"',
    name: 'lower(b.name)',
    source_code: 'b.source_code',
    created_at: 'b.created_at',
    updated_at: 'b.updated_at',
    withdrawn: 'b.withdrawn',
    versions: '(SELECT count(*) FROM basemap_versions v WHERE v.basemap_code = b.code)',
  },
  order: 'code',
  key: 'b.code COLLATE "C"',
  filters: {
    source_code: 'b.source_code = $',
    available: `${SOME_AVAILABLE} = $`,
    withdrawn: 'b.withdrawn = $',
    source_enabled: 's.enabled = $',
  },
} satisfies Listing

export async function listBasemaps(sql: Queryable, request: ListRequest): Promise<Listed<StoredBasemap>> {
  const selection = {
    columns: sql`b.code`,
    from: sql`basemaps b JOIN scan_sources s ON s.code = b.source_code`,
  }
  const { items, total } = await readList<{ code: string }>(sql, BASEMAP_LISTING, selection, request)
  const found = await readBasemaps(sql, codesOf(items))
  return { items: inOrderOf(items, found), total }
}

export const VERSION_LISTING = {
  searched: {
    'code of its basemap': 'v.basemap_code',
    'name of its basemap': 'b.name',
    version: 'v.version',
    path: 'v.path',
  },
  sortable: {
    basemap_code: 'v.basemap_code COLLATE "C"',
    version: 'v.version COLLATE "C"',
    storage: 'v.storage',
    format: 'v.format',
    tile_size: 'v.tile_size',
    min_zoom: 'v.min_zoom',
    max_zoom: 'v.max_zoom',
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
    storage: 'v.storage = $',
    format: 'v.format = $',
    available: 'v.available = $',
    withdrawn: '(v.withdrawn OR b.withdrawn) = $',
    source_enabled: 's.enabled = $',
  },
} satisfies Listing

/** Versions of all basemaps. */
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
    source_code: 'v.source_code = $',
    available: 'v.available = $',
    withdrawn: 'v.withdrawn = $',
    source_enabled: 's.enabled = $',
  },
} satisfies Listing

export async function listVectors(sql: Queryable, request: ListRequest): Promise<Listed<StoredVector>> {
  const selection = { columns: sql`v.code`, from: sql`vectors v JOIN scan_sources s ON s.code = v.source_code` }
  const { items, total } = await readList<{ code: string }>(sql, VECTOR_LISTING, selection, request)
  const found = await readVectors(sql, codesOf(items))
  return { items: inOrderOf(items, found), total }
}

function codesOf(rows: readonly { readonly code: string }[]): string[] {
  return [...new Set(rows.map(({ code }) => code))]
}

/** What was removed between the two statements is left out. */
function inOrderOf<T extends { readonly code: string }>(page: readonly { code: string }[], found: readonly T[]): T[] {
  const byCode = new Map(found.map((item) => [item.code, item]))
  return page.flatMap(({ code }) => byCode.get(code) ?? [])
}
