import type { Bounds, Storage, TileFormat, VectorLayer } from '@gateway/contracts/basemap.js'
import type { Queryable, Transaction } from './connect.js'
import { compareVersions, effectiveDefault } from './default-version.js'

export interface StoredVersion {
  readonly version: string
  readonly storage: Storage
  readonly format: TileFormat
  /** the file extension on disk */
  readonly extension: string
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: Bounds | null
  readonly attribution: string | null
  readonly description: string | null
  readonly vectorLayers: readonly VectorLayer[] | null
  readonly path: string
  readonly fingerprint: string
  readonly available: boolean
  readonly scannedAt: Date
}

export interface StoredBasemap {
  readonly code: string
  readonly name: string
  /** what an operator set; null: never set */
  readonly setDefault: string | null
  /** what `current` means now; null: nothing is available */
  readonly defaultVersion: string | null
  /** in natural order, newest label last */
  readonly versions: readonly StoredVersion[]
  /** the public tile address at the time of the last scan, without a trailing slash */
  readonly tileBaseUrl: string
  readonly sourceCode: string
  /** the directory of its scan source, out of which no file is served */
  readonly sourcePath: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

interface BasemapRow {
  code: string
  name: string
  default_version: string | null
  tile_base_url: string
  source_code: string
  source_path: string
  created_at: Date
  updated_at: Date
}

interface VersionRow {
  version: string
  storage: Storage
  format: TileFormat
  extension: string
  tile_size: number
  min_zoom: number
  max_zoom: number
  bounds: Bounds | null
  attribution: string | null
  description: string | null
  vector_layers: VectorLayer[] | null
  path: string
  fingerprint: string
  available: boolean
  scanned_at: Date
}

/** A basemap beside one of its versions, or beside nothing where it has none. */
type BasemapVersionRow = BasemapRow & (VersionRow | { version: null })

/**
 * Basemaps with their versions, ordered by code; `codes` null reads all of them. One statement: two would see two states, and a default
 * version that is not among the versions.
 */
export async function readBasemaps(sql: Queryable, codes: readonly string[] | null): Promise<StoredBasemap[]> {
  const rows = await sql<BasemapVersionRow[]>`
    SELECT b.code, b.name, b.default_version, b.tile_base_url, b.source_code, s.path AS source_path, b.created_at, b.updated_at,
           v.version, v.storage, v.format, v.extension, v.tile_size, v.min_zoom, v.max_zoom, v.bounds, v.attribution, v.description,
           v.vector_layers, v.path, v.fingerprint, v.available, v.scanned_at
    FROM basemaps b JOIN scan_sources s ON s.code = b.source_code LEFT JOIN basemap_versions v ON v.basemap_code = b.code
    WHERE ${codes as string[] | null}::text[] IS NULL OR b.code = ANY(${codes as string[] | null}::text[])
    ORDER BY b.code COLLATE "C"`
  const found = new Map<string, { row: BasemapRow; versions: StoredVersion[] }>()
  for (const row of rows) {
    const basemap = found.get(row.code) ?? { row, versions: [] }
    found.set(row.code, basemap)
    if (row.version !== null) basemap.versions.push(toVersion(row))
  }
  return [...found.values()].map(({ row, versions }) => toBasemap(row, versions))
}

export async function readBasemap(sql: Queryable, code: string): Promise<StoredBasemap | null> {
  return (await readBasemaps(sql, [code]))[0] ?? null
}

export interface NewBasemap {
  readonly code: string
  readonly name: string
  readonly tileBaseUrl: string
  readonly sourceCode: string
}

/** Creates a basemap or renews its name and public address. Its owner, the scan source that found it first, never changes here. */
export async function upsertBasemap(tx: Transaction, basemap: NewBasemap): Promise<void> {
  await tx`
    INSERT INTO basemaps (code, name, tile_base_url, source_code)
    VALUES (${basemap.code}, ${basemap.name}, ${basemap.tileBaseUrl}, ${basemap.sourceCode})
    ON CONFLICT (code) DO UPDATE SET name = excluded.name, tile_base_url = excluded.tile_base_url, updated_at = now()
    WHERE basemaps.source_code = excluded.source_code`
}

export type NewVersion = Omit<StoredVersion, 'available' | 'scannedAt'>

/** Creates a version or replaces what is known of it, and makes it available: as it is now, not when the transaction began. */
export async function upsertVersion(tx: Transaction, basemapCode: string, v: NewVersion): Promise<void> {
  await tx`
    INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, bounds, attribution,
                                  description, vector_layers, path, fingerprint, scanned_at)
    VALUES (${basemapCode}, ${v.version}, ${v.storage}, ${v.format}, ${v.extension}, ${v.tileSize}, ${v.minZoom}, ${v.maxZoom},
            ${v.bounds as number[] | null}::float8[], ${v.attribution}, ${v.description},
            ${v.vectorLayers === null ? null : tx.json(v.vectorLayers as never)}, ${v.path}, ${v.fingerprint}, clock_timestamp())
    ON CONFLICT (basemap_code, version) DO UPDATE SET
      storage = excluded.storage, format = excluded.format, extension = excluded.extension, tile_size = excluded.tile_size,
      min_zoom = excluded.min_zoom, max_zoom = excluded.max_zoom, bounds = excluded.bounds, attribution = excluded.attribution,
      description = excluded.description, vector_layers = excluded.vector_layers, path = excluded.path,
      fingerprint = excluded.fingerprint, available = true, scanned_at = excluded.scanned_at`
}

/** Notes that a scan has seen these versions, changed or not. */
export async function touchVersions(tx: Transaction, basemapCode: string, versions: readonly string[]): Promise<void> {
  await tx`
    UPDATE basemap_versions SET scanned_at = now()
    WHERE basemap_code = ${basemapCode} AND version = ANY(${versions as string[]}::text[])`
}

/** Says whether versions are there, as somebody has just seen it: a scan that began earlier will not contradict. */
export async function setVersionsAvailable(
  tx: Transaction,
  basemapCode: string,
  versions: readonly string[],
  available: boolean,
): Promise<void> {
  await tx`
    UPDATE basemap_versions SET available = ${available}, scanned_at = clock_timestamp()
    WHERE basemap_code = ${basemapCode} AND version = ANY(${versions as string[]}::text[])`
}

/** Forgets versions that are unavailable; those that somebody has found again meanwhile stay. */
export async function deleteVersions(tx: Transaction, basemapCode: string, versions: readonly string[]): Promise<void> {
  await tx`
    DELETE FROM basemap_versions
    WHERE basemap_code = ${basemapCode} AND version = ANY(${versions as string[]}::text[]) AND NOT available`
}

/** false: no such basemap. */
export async function setDefaultVersion(tx: Transaction, code: string, version: string): Promise<boolean> {
  const rows = await tx`
    UPDATE basemaps SET default_version = ${version}, updated_at = now() WHERE code = ${code} RETURNING code`
  return rows.length > 0
}

function toVersion(row: VersionRow): StoredVersion {
  return {
    version: row.version,
    storage: row.storage,
    format: row.format,
    extension: row.extension,
    tileSize: row.tile_size,
    minZoom: row.min_zoom,
    maxZoom: row.max_zoom,
    bounds: row.bounds,
    attribution: row.attribution,
    description: row.description,
    vectorLayers: row.vector_layers,
    path: row.path,
    fingerprint: row.fingerprint,
    available: row.available,
    scannedAt: row.scanned_at,
  }
}

function toBasemap(row: BasemapRow, versions: StoredVersion[]): StoredBasemap {
  return {
    code: row.code,
    name: row.name,
    setDefault: row.default_version,
    defaultVersion: effectiveDefault(row.default_version, versions),
    versions: versions.sort((a, b) => compareVersions(a.version, b.version)),
    tileBaseUrl: row.tile_base_url,
    sourceCode: row.source_code,
    sourcePath: row.source_path,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
