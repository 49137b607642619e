import path from 'node:path'
import type { CachePolicy, VersionOverrides } from '@gateway/contracts/basemap.js'
import type { UpstreamState } from '@gateway/contracts/service.js'
import { type Overridable, withOverrides } from '@gateway/contracts/version-overrides.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'
import type { Refresh, Upstream } from '@gateway/tilesets/upstream/upstream-sources.js'
import type { Queryable, Transaction } from './connect.js'
import { compareVersions, effectiveDefault } from './default-version.js'
import { whereCode } from './sql.js'

export interface StoredVersion
  extends Omit<TileSetProbe, 'encoding' | 'rowsAssumed' | 'rowsSaid' | 'extents' | 'warnings'> {
  readonly version: string
  /** name in the tile set's own metadata; documents show it only if an operator set it (`versionTitle`) */
  readonly name: string | null
  readonly path: string
  /** how its tiles are asked for, of a service; absent or null: of no service */
  readonly upstream?: Upstream | null
  /** of a service: from when on what is kept is old */
  readonly refreshed?: readonly Refresh[]
  /** positive; increases whenever the content may have changed, and is never a value that this label had before */
  readonly revision: number
  readonly available: boolean
  /** true if an operator has withdrawn it from readers */
  readonly withdrawn: boolean
  /** it is held for an approval or was rejected, and not served; absent in a catalog that an earlier version kept */
  readonly review?: 'held' | 'rejected' | null
  /** reason of the rejection */
  readonly reviewReason?: string | null
  /** time at which a scan, an import or a slice job last found it new, changed, missing or back */
  readonly scannedAt: Date
  /** times at which it was the default, oldest first; absent if never, or in a catalog that an earlier version kept */
  readonly defaultTimes?: readonly DefaultTime[] | null
  /** values that an operator set in place of the scan's; the fields above already contain them */
  readonly overrides: VersionOverrides
  /** values of the scan that overrides have replaced; null without overrides */
  readonly scanned: Overridable | null
}

/** Milliseconds since 1970. `untilMs` is null for the current default. */
export interface DefaultTime {
  readonly sinceMs: number
  readonly untilMs: number | null
}

/** A running switch of the default version that reaches a share of the tokens. */
export interface RunningCanary {
  /** hashed together with a token's id to decide whether the token gets the new version */
  readonly id: string
  readonly version: string
  /** 1 to 99 */
  readonly percent: number
}

/** Returns a version with the values of the scan, without those that operators set. */
export function asScanned(version: StoredVersion): StoredVersion {
  return version.scanned === null ? version : { ...version, ...version.scanned }
}

/** Returns the title of a version for documents. */
export function versionTitle(basemap: Pick<StoredBasemap, 'name'>, version: Pick<StoredVersion, 'overrides'>): string {
  return version.overrides.name ?? basemap.name
}

export interface StoredBasemap {
  readonly code: string
  /** name that an operator set, or else the name that a scan found */
  readonly name: string
  readonly scannedName: string
  /** name that an operator set; null: none */
  readonly setName: string | null
  /** written by operators, like the next two */
  readonly description: string | null
  readonly tags: readonly string[]
  readonly owner: string | null
  /** version that an operator set; null: never set */
  readonly setDefault: string | null
  /** version that `current` means now; null if none is available */
  readonly defaultVersion: string | null
  /** in natural order, newest label last */
  readonly versions: readonly StoredVersion[]
  /** public tile URL at the time of the last scan, without a trailing slash */
  readonly tileBaseUrl: string
  readonly sourceCode: string
  /** directory of its scan source; no file outside of it is served */
  readonly sourcePath: string
  /** true if its scan source is enabled; nothing of a disabled source is served */
  readonly sourceEnabled: boolean
  /** true if an operator has withdrawn it from readers, with all its versions */
  readonly withdrawn: boolean
  /** who may cache its tiles; for `shared` also the number of seconds, otherwise null */
  readonly cachePolicy: CachePolicy
  readonly sharedMaxAge: number | null
  /** what the requests to its service have met; absent or null: nothing, or it is of no service */
  readonly upstreamState?: UpstreamState | null | undefined
  /** absent or null: no canary */
  readonly canary?: RunningCanary | null | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
}

/**
 * Returns the directory outside of which no file of a version is served: that of its scan source, or of the archive if the version was published from
 * the tiles of a service.
 */
export function rootOf(
  basemap: Pick<StoredBasemap, 'sourcePath' | 'upstreamState'>,
  version: Pick<StoredVersion, 'storage' | 'path'>,
): string {
  return isPublished(basemap, version) ? path.dirname(version.path) : basemap.sourcePath
}

/** True if a version of a service's basemap is an archive of tiles that were kept. Scans of the service do not look for it. */
export function isPublished(
  { upstreamState }: Pick<StoredBasemap, 'upstreamState'>,
  { storage }: Pick<StoredVersion, 'storage'>,
): boolean {
  return (upstreamState ?? null) !== null && storage !== 'upstream'
}

/** True if readers may know of a basemap or vector. */
export function isOffered(stored: { readonly withdrawn: boolean; readonly sourceEnabled: boolean }): boolean {
  return stored.sourceEnabled && !stored.withdrawn
}

/** True if every version of a basemap waits for an approval or was rejected: readers have never seen it. Previews of operators read it. */
export function isUnpublished({ versions }: Pick<StoredBasemap, 'versions'>): boolean {
  return versions.length > 0 && versions.every(({ review }) => (review ?? null) !== null)
}

/** True if readers may know of a basemap. */
export function isListed(basemap: StoredBasemap): boolean {
  return isOffered(basemap) && !isUnpublished(basemap)
}

type VersionRow = Omit<StoredVersion, 'scanned' | 'name'> & { readonly versionName: string | null }

/** A basemap with one of its versions, or with nulls if it has none. */
type Row = Omit<StoredBasemap, 'versions' | 'defaultVersion' | 'withdrawn' | 'description'> & {
  readonly basemapWithdrawn: boolean
  readonly basemapDescription: string | null
} & (VersionRow | { readonly version: null })

/**
 * Reads basemaps with their versions, ordered by code; `codes` null: all of them. Uses one statement: two could see two states, and a default
 * version that is not among the versions.
 */
export async function readBasemaps(sql: Queryable, codes: readonly string[] | null): Promise<StoredBasemap[]> {
  // Repeated for versions, so that their table is read by its index.
  const andCode = codes === null ? sql`` : sql`AND v.basemap_code = ANY(${codes as string[]}::text[])`
  const rows = await sql<Row[]>`
    SELECT b.code, coalesce(b.set_name, b.name) AS name, b.name AS "scannedName", b.set_name AS "setName", b.description AS "basemapDescription", b.tags, b.owner,
           b.default_version AS "setDefault", b.tile_base_url AS "tileBaseUrl", b.source_code AS "sourceCode",
           s.path AS "sourcePath", s.enabled AS "sourceEnabled", b.withdrawn AS "basemapWithdrawn",
           b.cache_policy AS "cachePolicy", b.s_maxage AS "sharedMaxAge", b.created_at AS "createdAt",
           CASE WHEN c.id IS NOT NULL THEN json_build_object('id', c.id, 'version', c.version, 'percent', c.percent) END AS canary,
           CASE WHEN s.kind = 'service' THEN json_build_object('state', coalesce(u.state, 'closed'), 'failures', coalesce(u.failures, 0),
                                                              'message', coalesce(u.message, '')) END AS "upstreamState",
           (SELECT json_agg(json_build_object('sinceMs', floor(extract(epoch FROM d.since) * 1000)::bigint,
                                              'untilMs', floor(extract(epoch FROM d.until) * 1000)::bigint) ORDER BY d.since)
            FROM basemap_defaults d WHERE d.basemap_code = v.basemap_code AND d.version = v.version) AS "defaultTimes",
           b.updated_at AS "updatedAt",
           v.version, v.storage, v.format, v.formats, v.extension, v.tile_size AS "tileSize", v.min_zoom AS "minZoom", v.max_zoom AS "maxZoom",
           v.bounds, v.bounds_derived AS "boundsDerived", v.rows_from_north AS "rowsFromNorth", v.name AS "versionName", v.overrides, v.attribution, v.description, v.vector_layers AS "vectorLayers",
           v.tile_matrix_set AS "tileMatrixSet", v.tile_matrices AS "tileMatrices", v.metadata, v.path, v.upstream, v.refreshed, v.fingerprint, v.revision, v.available,
           v.withdrawn, v.review, v.review_reason AS "reviewReason", v.scanned_at AS "scannedAt"
    FROM basemaps b JOIN scan_sources s ON s.code = b.source_code LEFT JOIN basemap_versions v ON v.basemap_code = b.code ${andCode}
    LEFT JOIN upstream_states u ON u.source_code = b.source_code
    LEFT JOIN default_switches c ON c.basemap_code = b.code AND c.status = 'canary'
    ${whereCode(sql, sql`b.code`, codes)}
    ORDER BY b.code COLLATE "C"`
  const found = new Map<string, ReturnType<typeof toHead>>()
  for (const row of rows) {
    let basemap = found.get(row.code)
    if (basemap === undefined) {
      basemap = toHead(row)
      found.set(row.code, basemap)
    }
    if (row.version !== null) basemap.versions.push(toVersion(row))
  }
  return [...found.values()].map((basemap) => {
    basemap.versions.sort((a, b) => compareVersions(a.version, b.version))
    return { ...basemap, defaultVersion: effectiveDefault(basemap.setDefault, basemap.versions) }
  })
}

// Rows are copied field by field: objects made by spreading and leaving out take twice the time and the memory, of tens of thousands of versions.

function toHead(row: Row) {
  return {
    code: row.code,
    name: row.name,
    scannedName: row.scannedName,
    setName: row.setName,
    description: row.basemapDescription,
    tags: row.tags,
    owner: row.owner,
    setDefault: row.setDefault,
    tileBaseUrl: row.tileBaseUrl,
    sourceCode: row.sourceCode,
    sourcePath: row.sourcePath,
    sourceEnabled: row.sourceEnabled,
    withdrawn: row.basemapWithdrawn,
    cachePolicy: row.cachePolicy,
    sharedMaxAge: row.sharedMaxAge,
    canary: row.canary,
    upstreamState: row.upstreamState,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    versions: [] as StoredVersion[],
  }
}

function toVersion(row: VersionRow): StoredVersion {
  const version: StoredVersion = {
    version: row.version,
    storage: row.storage,
    rowsFromNorth: row.rowsFromNorth,
    format: row.format,
    formats: row.formats ?? null,
    extension: row.extension,
    tileSize: row.tileSize,
    minZoom: row.minZoom,
    maxZoom: row.maxZoom,
    bounds: row.bounds,
    boundsDerived: row.boundsDerived,
    name: row.versionName,
    attribution: row.attribution,
    description: row.description,
    vectorLayers: row.vectorLayers,
    tileMatrixSet: row.tileMatrixSet,
    tileMatrices: row.tileMatrices ?? null,
    metadata: row.metadata,
    path: row.path,
    upstream: row.upstream ?? null,
    refreshed: row.refreshed ?? [],
    fingerprint: row.fingerprint,
    revision: row.revision,
    available: row.available,
    withdrawn: row.withdrawn,
    review: row.review ?? null,
    reviewReason: row.reviewReason ?? null,
    scannedAt: row.scannedAt,
    defaultTimes: row.defaultTimes ?? null,
    overrides: row.overrides,
    scanned: null,
  }
  if (Object.keys(row.overrides).length === 0) return version
  const { storage, rowsFromNorth, format, tileSize, minZoom, maxZoom, bounds, boundsDerived } = version
  const { attribution, tileMatrixSet, name } = version
  const tiles = { storage, rowsFromNorth, format, tileSize, tileMatrixSet }
  const scanned = { ...tiles, minZoom, maxZoom, bounds, boundsDerived, attribution, name }
  return { ...version, ...withOverrides(scanned, row.overrides), scanned }
}

/** Number of rows that one code has in the catalog. */
export interface CatalogSize {
  readonly code: string
  readonly rows: number
}

/** Returns the codes of basemaps with the number of their versions, at least 1; `codes` null: all of them. */
export async function readBasemapSizes(sql: Queryable, codes: readonly string[] | null): Promise<CatalogSize[]> {
  const rows = await sql<CatalogSize[]>`
    SELECT b.code, greatest(1, count(v.version))::int AS rows
    FROM basemaps b LEFT JOIN basemap_versions v ON v.basemap_code = b.code
    ${whereCode(sql, sql`b.code`, codes)}
    GROUP BY b.code ORDER BY b.code`
  return [...rows]
}

export async function readBasemap(sql: Queryable, code: string): Promise<StoredBasemap | null> {
  return (await readBasemaps(sql, [code]))[0] ?? null
}

/** Returns those paths from which a version is served. */
export async function pathsOfVersions(sql: Queryable, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<
    { path: string }[]
  >`SELECT path FROM basemap_versions WHERE path = ANY(${paths as string[]}::text[])`
  return new Set(rows.map((row) => row.path))
}

export interface NewBasemap {
  readonly code: string
  readonly name: string
  readonly tileBaseUrl: string
  readonly sourceCode: string
}

export function upsertBasemap(tx: Transaction, basemap: NewBasemap): Promise<void> {
  return upsertBasemaps(tx, [basemap])
}

/** Creates basemaps or updates their names and public URLs. The owner, the scan source that found one first, never changes here. */
export async function upsertBasemaps(tx: Transaction, basemaps: readonly NewBasemap[]): Promise<void> {
  if (basemaps.length === 0) return
  await tx`
    INSERT INTO basemaps (code, name, tile_base_url, source_code)
    SELECT * FROM unnest(${basemaps.map((b) => b.code)}::text[], ${basemaps.map((b) => b.name)}::text[],
                         ${basemaps.map((b) => b.tileBaseUrl)}::text[], ${basemaps.map((b) => b.sourceCode)}::text[])
    ON CONFLICT (code) DO UPDATE SET name = excluded.name, tile_base_url = excluded.tile_base_url, updated_at = now()
    WHERE basemaps.source_code = excluded.source_code`
}

export type NewVersion = Omit<
  StoredVersion,
  | 'available'
  | 'scannedAt'
  | 'revision'
  | 'refreshed'
  | 'withdrawn'
  | 'review'
  | 'reviewReason'
  | 'defaultTimes'
  | 'overrides'
  | 'scanned'
>

export function upsertVersion(tx: Transaction, basemapCode: string, version: NewVersion): Promise<void> {
  return upsertVersions(tx, [{ basemapCode, ...version }])
}

/** Limit: versions of one statement, whose parameter has some megabytes if each has a list of vector layers. */
const UPSERTED_AT_ONCE = 500

/**
 * Creates or replaces versions, and makes them available, with the time of the statement and not of the transaction's begin. A trigger increments the
 * revision of a version whenever fields that identify its content change.
 */
export async function upsertVersions(
  tx: Transaction,
  versions: readonly (NewVersion & { readonly basemapCode: string })[],
): Promise<void> {
  for (let at = 0; at < versions.length; at += UPSERTED_AT_ONCE)
    await upsertSome(tx, versions.slice(at, at + UPSERTED_AT_ONCE))
}

async function upsertSome(tx: Transaction, versions: Parameters<typeof upsertVersions>[1]): Promise<void> {
  await tx`
    INSERT INTO basemap_versions (basemap_code, version, storage, format, formats, extension, tile_size, min_zoom, max_zoom, bounds, attribution,
                                  description, vector_layers, tile_matrix_set, metadata, path, fingerprint, name, rows_from_north,
                                  bounds_derived, tile_matrices, upstream, scanned_at)
    SELECT v.*, clock_timestamp()
    FROM jsonb_to_recordset(${tx.json(versions.map(rowOf) as never)}) AS v (
      basemap_code text, version text, storage text, format text, formats text[], extension text, tile_size int, min_zoom int, max_zoom int, bounds float8[],
      attribution text, description text, vector_layers jsonb, tile_matrix_set text, metadata jsonb, path text, fingerprint text, name text,
      rows_from_north boolean, bounds_derived boolean, tile_matrices jsonb, upstream jsonb)
    ON CONFLICT (basemap_code, version) DO UPDATE SET
      storage = excluded.storage, format = excluded.format, formats = excluded.formats, extension = excluded.extension, tile_size = excluded.tile_size,
      min_zoom = excluded.min_zoom, max_zoom = excluded.max_zoom, bounds = excluded.bounds, attribution = excluded.attribution,
      description = excluded.description, vector_layers = excluded.vector_layers,
      tile_matrix_set = excluded.tile_matrix_set, metadata = excluded.metadata, path = excluded.path,
      fingerprint = excluded.fingerprint, name = excluded.name, rows_from_north = excluded.rows_from_north,
      bounds_derived = excluded.bounds_derived, tile_matrices = excluded.tile_matrices, upstream = excluded.upstream, available = true, scanned_at = excluded.scanned_at`
}

function rowOf(v: NewVersion & { readonly basemapCode: string }) {
  return {
    basemap_code: v.basemapCode,
    version: v.version,
    storage: v.storage,
    format: v.format,
    formats: v.formats ?? null,
    extension: v.extension,
    tile_size: v.tileSize,
    min_zoom: v.minZoom,
    max_zoom: v.maxZoom,
    bounds: v.bounds,
    attribution: v.attribution,
    description: v.description,
    vector_layers: v.vectorLayers,
    tile_matrix_set: v.tileMatrixSet,
    metadata: v.metadata,
    path: v.path,
    fingerprint: v.fingerprint,
    name: v.name,
    rows_from_north: v.rowsFromNorth,
    bounds_derived: v.boundsDerived,
    tile_matrices: v.tileMatrices ?? null,
    upstream: v.upstream ?? null,
  }
}

/** Makes old what is kept of a version of a service from now on, and increments its revision. Returns false if there is no such version. */
export async function refreshVersion(
  tx: Transaction,
  basemapCode: string,
  version: string,
  refresh: Omit<Refresh, 'atMs'>,
): Promise<boolean> {
  const { count } = await tx`
    UPDATE basemap_versions SET revision = nextval('version_revisions'), refreshed = (
      SELECT coalesce(jsonb_agg(one ORDER BY (one->>'atMs')::bigint), '[]') FROM (
        SELECT one FROM jsonb_array_elements(
          refreshed || (${tx.json(refresh as never)}::jsonb || jsonb_build_object('atMs', floor(extract(epoch FROM clock_timestamp()) * 1000)))) one
        ORDER BY (one->>'atMs')::bigint DESC LIMIT ${MAX_REFRESHES}) newest)
    WHERE basemap_code = ${basemapCode} AND version = ${version} AND storage = 'upstream'`
  return count > 0
}

/** Limit: refreshes of a version that are remembered; each is looked at for every tile that is read from the disk. */
const MAX_REFRESHES = 50

/** Increments the revision of a version. Callers have changed its content. */
export async function growRevision(tx: Transaction, basemapCode: string, version: string): Promise<void> {
  await tx`
    UPDATE basemap_versions SET revision = nextval('version_revisions')
    WHERE basemap_code = ${basemapCode} AND version = ${version}`
}

/** Sets the availability of versions, as just observed. A scan that began earlier does not overwrite it. */
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

/** Deletes versions that are unavailable. Those that were found again meanwhile stay. */
export async function deleteVersions(tx: Transaction, basemapCode: string, versions: readonly string[]): Promise<void> {
  await tx`
    DELETE FROM basemap_versions
    WHERE basemap_code = ${basemapCode} AND version = ANY(${versions as string[]}::text[]) AND NOT available`
}

/** Returns false if the basemap does not exist. */
export async function setDefaultVersion(tx: Transaction, code: string, version: string): Promise<boolean> {
  const rows = await tx`
    UPDATE basemaps SET default_version = ${version}, updated_at = now() WHERE code = ${code} RETURNING code`
  return rows.length > 0
}

/** Sets who may cache a basemap's tiles. @param sharedMaxAge in seconds, only for `shared` */
export async function setCachePolicy(
  tx: Transaction,
  code: string,
  policy: CachePolicy,
  sharedMaxAge: number | null,
): Promise<void> {
  await tx`
    UPDATE basemaps SET cache_policy = ${policy}, s_maxage = ${sharedMaxAge}, updated_at = now() WHERE code = ${code}`
}

/** Withdraws one version from readers, or restores it. Returns false if the version does not exist. */
export async function setVersionWithdrawn(
  tx: Transaction,
  code: string,
  version: string,
  withdrawn: boolean,
): Promise<boolean> {
  const rows = await tx`
    UPDATE basemap_versions SET withdrawn = ${withdrawn}
    WHERE basemap_code = ${code} AND version = ${version} RETURNING version`
  return rows.length > 0
}

/** Publishes a version that was held or rejected. Returns false if there is no such version. */
export async function approveVersion(tx: Transaction, code: string, version: string): Promise<boolean> {
  const { count } = await tx`
    UPDATE basemap_versions SET review = NULL, review_reason = NULL, withdrawn = false
    WHERE basemap_code = ${code} AND version = ${version} AND review IS NOT NULL`
  return count > 0
}

/** Rejects a version that is held. Returns false if there is no such version. */
export async function rejectVersion(tx: Transaction, code: string, version: string, reason: string): Promise<boolean> {
  const { count } = await tx`
    UPDATE basemap_versions SET review = 'rejected', review_reason = ${reason}
    WHERE basemap_code = ${code} AND version = ${version} AND review = 'held'`
  return count > 0
}

/** Sets the overrides of a version. A trigger increments its revision. Returns false if the version does not exist. */
export async function setVersionOverrides(
  tx: Transaction,
  code: string,
  version: string,
  overrides: VersionOverrides,
): Promise<boolean> {
  const { count } = await tx`
    UPDATE basemap_versions SET overrides = ${tx.json(overrides as never)}
    WHERE basemap_code = ${code} AND version = ${version}`
  return count > 0
}

/** Notes of operators about a basemap. `name` null: the name of the scan applies. */
export interface BasemapNotes {
  readonly name: string | null
  readonly description: string | null
  readonly tags: readonly string[]
  readonly owner: string | null
}

export async function setBasemapNotes(tx: Transaction, code: string, notes: BasemapNotes): Promise<void> {
  await tx`
    UPDATE basemaps SET set_name = ${notes.name}, description = ${notes.description}, tags = ${notes.tags as string[]}::text[],
      owner = ${notes.owner}, updated_at = now()
    WHERE code = ${code}`
}

/** Deletes one version, available or not, and its entries in the history of defaults. Returns false if it did not exist. */
export async function deleteVersion(tx: Transaction, code: string, version: string): Promise<boolean> {
  const { count } = await tx`DELETE FROM basemap_versions WHERE basemap_code = ${code} AND version = ${version}`
  if (count === 0) return false
  await tx`
    UPDATE basemaps SET default_version = nullif(default_version, ${version}), updated_at = now() WHERE code = ${code}`
  return true
}
