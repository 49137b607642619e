import type {
  Bounds,
  CachePolicy,
  Storage,
  TileFormat,
  TileMatrices,
  TileMatrixSetId,
  VectorLayer,
  VersionOverrides,
} from '@gateway/contracts/basemap.js'
import { type Overridable, withOverrides } from '@gateway/contracts/version-overrides.js'
import type { Queryable, Transaction } from './connect.js'
import { compareVersions, effectiveDefault } from './default-version.js'
import { whereCode } from './where-code.js'

export interface StoredVersion {
  readonly version: string
  readonly storage: Storage
  /** rows of an MBTiles archive are counted from the north, against its specification */
  readonly rowsFromNorth: boolean
  readonly format: TileFormat
  /** the file extension on disk */
  readonly extension: string
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: Bounds | null
  /** they were computed from the tiles */
  readonly boundsDerived: boolean
  /** how the tile set calls itself; documents show it only if an operator set it (`versionTitle`) */
  readonly name: string | null
  readonly attribution: string | null
  readonly description: string | null
  readonly vectorLayers: readonly VectorLayer[] | null
  readonly tileMatrixSet: TileMatrixSetId
  /** the numbers of its own grid, which `tileMatrixSet` names unless an operator set another; absent and null: it has none */
  readonly tileMatrices?: TileMatrices | null
  /** what the set's own metadata says beyond the fields above, for TileJSON */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly path: string
  readonly fingerprint: string
  /** positive; another, higher one whenever the content may have changed, and never one that a version of this label had before */
  readonly revision: number
  readonly available: boolean
  /** an operator has taken it from its readers */
  readonly withdrawn: boolean
  /** it waits for an approval, or did not get one, and is withdrawn until then; a catalog that an earlier version kept does not say */
  readonly review?: 'held' | 'rejected' | null
  /** why it was rejected */
  readonly reviewReason?: string | null
  readonly scannedAt: Date
  /** when it was the default, from the first time on; absent: never, or a catalog that an earlier version kept does not say */
  readonly defaultTimes?: readonly DefaultTime[] | null
  /** what an operator set in place of the scan's values; the fields above have it already */
  readonly overrides: VersionOverrides
  /** what the scan found of the fields that overrides have changed; null: there are no overrides */
  readonly scanned: Overridable | null
}

/** Milliseconds since 1970; `untilMs` null: it is the default now. */
export interface DefaultTime {
  readonly sinceMs: number
  readonly untilMs: number | null
}

/** A switch of the default that reaches a share of the tokens now. */
export interface RunningCanary {
  /** with a token's id it says whether the token has the new version */
  readonly id: string
  readonly version: string
  /** 1 to 99 */
  readonly percent: number
}

/** A version as scans know it, without what operators set. */
export function asScanned(version: StoredVersion): StoredVersion {
  return version.scanned === null ? version : { ...version, ...version.scanned }
}

/** The title of a version in documents. */
export function versionTitle(basemap: Pick<StoredBasemap, 'name'>, version: Pick<StoredVersion, 'overrides'>): string {
  return version.overrides.name ?? basemap.name
}

export interface StoredBasemap {
  readonly code: string
  /** what an operator set, else what a scan found */
  readonly name: string
  readonly scannedName: string
  /** null: none was set */
  readonly setName: string | null
  /** these three are written by operators */
  readonly description: string | null
  readonly tags: readonly string[]
  readonly owner: string | null
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
  /** whether its scan source is enabled: nothing of a disabled one is served */
  readonly sourceEnabled: boolean
  /** an operator has taken it from its readers, with all of its versions */
  readonly withdrawn: boolean
  /** who may keep its tiles, and of `shared` for how many seconds; null otherwise */
  readonly cachePolicy: CachePolicy
  readonly sharedMaxAge: number | null
  /** absent and null: there is none */
  readonly canary?: RunningCanary | null | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Whether readers may know of a basemap or vector at all. */
export function isOffered(stored: { readonly withdrawn: boolean; readonly sourceEnabled: boolean }): boolean {
  return stored.sourceEnabled && !stored.withdrawn
}

/** A basemap next to one of its versions, or next to nothing where it has none. */
type Row = Omit<StoredBasemap, 'versions' | 'defaultVersion' | 'withdrawn' | 'description'> & {
  readonly basemapWithdrawn: boolean
  readonly basemapDescription: string | null
} & ((Omit<StoredVersion, 'scanned' | 'name'> & { readonly versionName: string | null }) | { readonly version: null })

/**
 * Basemaps with their versions, ordered by code; `codes` null reads all of them. One statement: two would see two states, and a default
 * version that is not among the versions.
 */
export async function readBasemaps(sql: Queryable, codes: readonly string[] | null): Promise<StoredBasemap[]> {
  // Said of versions too, whose table is read by its index then.
  const andCode = codes === null ? sql`` : sql`AND v.basemap_code = ANY(${codes as string[]}::text[])`
  const rows = await sql<Row[]>`
    SELECT b.code, coalesce(b.set_name, b.name) AS name, b.name AS "scannedName", b.set_name AS "setName", b.description AS "basemapDescription", b.tags, b.owner,
           b.default_version AS "setDefault", b.tile_base_url AS "tileBaseUrl", b.source_code AS "sourceCode",
           s.path AS "sourcePath", s.enabled AS "sourceEnabled", b.withdrawn AS "basemapWithdrawn",
           b.cache_policy AS "cachePolicy", b.s_maxage AS "sharedMaxAge", b.created_at AS "createdAt",
           CASE WHEN c.id IS NOT NULL THEN json_build_object('id', c.id, 'version', c.version, 'percent', c.percent) END AS canary,
           (SELECT json_agg(json_build_object('sinceMs', floor(extract(epoch FROM d.since) * 1000)::bigint,
                                              'untilMs', floor(extract(epoch FROM d.until) * 1000)::bigint) ORDER BY d.since)
            FROM basemap_defaults d WHERE d.basemap_code = v.basemap_code AND d.version = v.version) AS "defaultTimes",
           b.updated_at AS "updatedAt",
           v.version, v.storage, v.format, v.extension, v.tile_size AS "tileSize", v.min_zoom AS "minZoom", v.max_zoom AS "maxZoom",
           v.bounds, v.bounds_derived AS "boundsDerived", v.rows_from_north AS "rowsFromNorth", v.name AS "versionName", v.overrides, v.attribution, v.description, v.vector_layers AS "vectorLayers",
           v.tile_matrix_set AS "tileMatrixSet", v.tile_matrices AS "tileMatrices", v.metadata, v.path, v.fingerprint, v.revision, v.available,
           v.withdrawn, v.review, v.review_reason AS "reviewReason", v.scanned_at AS "scannedAt"
    FROM basemaps b JOIN scan_sources s ON s.code = b.source_code LEFT JOIN basemap_versions v ON v.basemap_code = b.code ${andCode}
    LEFT JOIN default_switches c ON c.basemap_code = b.code AND c.status = 'canary'
    ${whereCode(sql, sql`b.code`, codes)}
    ORDER BY b.code COLLATE "C"`
  const found = new Map<string, Omit<StoredBasemap, 'versions' | 'defaultVersion'> & { versions: StoredVersion[] }>()
  for (const row of rows) {
    const { code, name, setDefault, tileBaseUrl, sourceCode, sourcePath, sourceEnabled, ...rest } = row
    const { basemapWithdrawn: withdrawn, cachePolicy, sharedMaxAge, canary, createdAt, updatedAt, ...more } = rest
    const { scannedName, setName, basemapDescription: description, tags, owner, ...version } = more
    const caching = { cachePolicy, sharedMaxAge, canary }
    const source = { sourceCode, sourcePath, sourceEnabled }
    const written = { name, scannedName, setName, description, tags, owner }
    const head = { code, ...written, setDefault, tileBaseUrl, ...source, withdrawn, ...caching, createdAt, updatedAt }
    const basemap = found.get(code) ?? { ...head, versions: [] }
    found.set(code, basemap)
    if (version.version !== null) basemap.versions.push(toVersion(version))
  }
  return [...found.values()].map(({ versions, ...head }) => ({
    ...head,
    defaultVersion: effectiveDefault(head.setDefault, versions),
    versions: versions.sort((a, b) => compareVersions(a.version, b.version)),
  }))
}

function toVersion({
  versionName,
  ...row
}: Omit<StoredVersion, 'scanned' | 'name'> & { versionName: string | null }): StoredVersion {
  const version = { ...row, name: versionName, scanned: null }
  if (Object.keys(row.overrides).length === 0) return version
  const { storage, rowsFromNorth, format, tileSize, minZoom, maxZoom, bounds, boundsDerived } = version
  const { attribution, tileMatrixSet, name } = version
  const tiles = { storage, rowsFromNorth, format, tileSize, tileMatrixSet }
  const scanned = { ...tiles, minZoom, maxZoom, bounds, boundsDerived, attribution, name }
  return { ...version, ...withOverrides(scanned, row.overrides), scanned }
}

/** How many rows there are of one thing in the catalog. */
export interface CatalogSize {
  readonly code: string
  readonly rows: number
}

/** Which basemaps there are, by code, and how many versions each has (1 where it has none); `codes` null: all of them. */
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

export type NewVersion = Omit<
  StoredVersion,
  | 'available'
  | 'scannedAt'
  | 'revision'
  | 'withdrawn'
  | 'review'
  | 'reviewReason'
  | 'defaultTimes'
  | 'overrides'
  | 'scanned'
>

/**
 * Creates a version or replaces what is known of it, and makes it available: as it is now, not when the transaction began. Its revision grows
 * by a trigger wherever what names its content becomes another.
 */
export async function upsertVersion(tx: Transaction, basemapCode: string, v: NewVersion): Promise<void> {
  await tx`
    INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, bounds, attribution,
                                  description, vector_layers, tile_matrix_set, metadata, path, fingerprint, name, rows_from_north,
                                  bounds_derived, tile_matrices, scanned_at)
    VALUES (${basemapCode}, ${v.version}, ${v.storage}, ${v.format}, ${v.extension}, ${v.tileSize}, ${v.minZoom}, ${v.maxZoom},
            ${v.bounds as number[] | null}::float8[], ${v.attribution}, ${v.description},
            ${v.vectorLayers === null ? null : tx.json(v.vectorLayers as never)}, ${v.tileMatrixSet},
            ${tx.json(v.metadata as never)}, ${v.path}, ${v.fingerprint}, ${v.name}, ${v.rowsFromNorth}, ${v.boundsDerived},
            ${v.tileMatrices == null ? null : tx.json(v.tileMatrices as never)}, clock_timestamp())
    ON CONFLICT (basemap_code, version) DO UPDATE SET
      storage = excluded.storage, format = excluded.format, extension = excluded.extension, tile_size = excluded.tile_size,
      min_zoom = excluded.min_zoom, max_zoom = excluded.max_zoom, bounds = excluded.bounds, attribution = excluded.attribution,
      description = excluded.description, vector_layers = excluded.vector_layers,
      tile_matrix_set = excluded.tile_matrix_set, metadata = excluded.metadata, path = excluded.path,
      fingerprint = excluded.fingerprint, name = excluded.name, rows_from_north = excluded.rows_from_north,
      bounds_derived = excluded.bounds_derived, tile_matrices = excluded.tile_matrices, available = true, scanned_at = excluded.scanned_at`
}

/** Gives a version another revision: for whoever has changed its content. */
export async function growRevision(tx: Transaction, basemapCode: string, version: string): Promise<void> {
  await tx`
    UPDATE basemap_versions SET revision = nextval('version_revisions')
    WHERE basemap_code = ${basemapCode} AND version = ${version}`
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

/** Takes a basemap from its readers, or gives it back. false: no such basemap. */
export async function setBasemapWithdrawn(tx: Transaction, code: string, withdrawn: boolean): Promise<boolean> {
  const rows = await tx`
    UPDATE basemaps SET withdrawn = ${withdrawn}, updated_at = now() WHERE code = ${code} RETURNING code`
  return rows.length > 0
}

/** Sets who may keep a basemap's tiles. @param sharedMaxAge seconds, of `shared` alone */
export async function setCachePolicy(
  tx: Transaction,
  code: string,
  policy: CachePolicy,
  sharedMaxAge: number | null,
): Promise<void> {
  await tx`
    UPDATE basemaps SET cache_policy = ${policy}, s_maxage = ${sharedMaxAge}, updated_at = now() WHERE code = ${code}`
}

/** Takes one version from its readers, or gives it back. false: no such version. */
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

/** Publishes a version that was held or rejected. false: there is none. */
export async function approveVersion(tx: Transaction, code: string, version: string): Promise<boolean> {
  const { count } = await tx`
    UPDATE basemap_versions SET review = NULL, review_reason = NULL, withdrawn = false
    WHERE basemap_code = ${code} AND version = ${version} AND review IS NOT NULL`
  return count > 0
}

/** Rejects a version that is held. false: there is none. */
export async function rejectVersion(tx: Transaction, code: string, version: string, reason: string): Promise<boolean> {
  const { count } = await tx`
    UPDATE basemap_versions SET review = 'rejected', review_reason = ${reason}
    WHERE basemap_code = ${code} AND version = ${version} AND review = 'held'`
  return count > 0
}

/** Sets what replaces the scan's values of a version, whose revision grows by a trigger. false: no such version. */
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

/** What operators write about a basemap. `name` null: the scan's counts. */
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

/** Forgets a basemap with all of its versions; a scan that finds it makes it anew. false: it was not there any more. */
export async function deleteBasemap(tx: Transaction, code: string): Promise<boolean> {
  const { count } = await tx`DELETE FROM basemaps WHERE code = ${code}`
  return count > 0
}

/** Forgets one version, available or not, and that it was made the default. false: it was not there any more. */
export async function deleteVersion(tx: Transaction, code: string, version: string): Promise<boolean> {
  const { count } = await tx`DELETE FROM basemap_versions WHERE basemap_code = ${code} AND version = ${version}`
  if (count === 0) return false
  await tx`
    UPDATE basemaps SET default_version = nullif(default_version, ${version}), updated_at = now() WHERE code = ${code}`
  return true
}
