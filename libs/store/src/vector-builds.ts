import type { Bounds, VectorLayer } from '@gateway/contracts/basemap.js'
import { type CodedMessage, textOf } from '@gateway/contracts/messages.js'
import type { VectorFacts, VectorKind } from '@gateway/contracts/vector.js'
import type { Queryable, Sql, Transaction } from './connect.js'
import { claimExclusiveJob, endExclusiveJob, isLeased, type JobLease } from './jobs.js'

/** Channel that tells every builder that the content of a vector, or the settings of its tiles, have changed. */
export const VECTOR_BUILDS_CHANNEL = 'gateway_vector_builds'

/** The served build of a vector. */
export interface VectorBuild {
  /** absolute path of the folder with index.gpkg, index.json and, if it has zooms, tiles.pmtiles */
  readonly folder: string
  /** null: no feature has a geometry, so there are no tiles */
  readonly minZoom: number | null
  readonly maxZoom: number | null
  readonly bounds: Bounds | null
  readonly leftOut: Readonly<Record<string, number>>
  readonly vectorLayers: readonly VectorLayer[]
  /** features that could not be read; absent: none */
  readonly note?: CodedMessage | undefined
  /** ISO 8601 */
  readonly builtAt: string
}

/** The facts of a vector that its features show. */
export type SeenFacts = Pick<VectorFacts, 'bounds' | 'feature_count' | 'geometry_type' | 'fields'>

/** The input of a claimed build. */
export interface ClaimedBuild {
  readonly lease: JobLease
  readonly code: string
  readonly name: string
  readonly kind: VectorKind
  readonly path: string
  readonly sourcePath: string
  /** bytes of all its files */
  readonly size: number
  readonly revision: number
  /** of the scanned content */
  readonly fingerprint: string
  readonly encoding: string | null
  readonly crs: string | null
  /** what the scan read from the head of the file; null: nothing */
  readonly stated: SeenFacts | null
  readonly minZoom: number | null
  readonly maxZoom: number | null
  /** attributes in tiles; null: all */
  readonly fields: readonly string[] | null
  /** how often the builder of this revision has ended without a result */
  readonly crashes: number
}

/** Maximum size of files in the lane of small files, which large ones do not delay. */
const SMALL_BYTES = 16 * 1024 * 1024

/** Claims the smallest pending vector of a lane. Returns null if no vector is pending, or other processes build all pending ones. */
export async function claimBuild(
  sql: Sql,
  owner: string,
  leaseSeconds: number,
  isSmall: boolean,
): Promise<ClaimedBuild | null> {
  return sql.begin(async (tx) => {
    const [next] = await tx<Omit<ClaimedBuild, 'lease'>[]>`
      SELECT v.code, v.name, coalesce(v.other_format, v.format, v.kind) AS kind, v.path, v.size::float8 AS size, s.path AS "sourcePath", v.revision::float8 AS revision, v.fingerprint,
             coalesce(v.encoding, CASE WHEN v.facts->>'encoding_source' IS NULL THEN v.facts->>'encoding' END) AS encoding,
             v.facts->>'crs' AS crs, CASE WHEN v.facts_fingerprint = v.fingerprint THEN v.facts END AS stated, v.tile_min_zoom AS "minZoom", v.tile_max_zoom AS "maxZoom", v.tile_fields AS fields,
             v.build_crashes AS crashes
      FROM vectors v JOIN scan_sources s ON s.code = v.source_code
      WHERE build_tried < revision AND coalesce(build_retry_at <= now(), true) AND available AND NOT v.withdrawn AND tiles_wanted AND coalesce(v.other_format, '') NOT LIKE 'postgis%' AND (size <= ${SMALL_BYTES}) = ${isSmall}
        AND NOT EXISTS (SELECT FROM ONLY jobs WHERE kind = 'vector_build' AND code = v.code AND ${isLeased(tx)})
      ORDER BY size LIMIT 1 FOR UPDATE OF v SKIP LOCKED`
    if (next === undefined) return null
    const lease = await claimExclusiveJob(tx, { kind: 'vector_build', code: next.code }, owner, leaseSeconds)
    return lease && { ...next, lease }
  })
}

/** Ends a build, and corrects the facts of its vector. After a failure, the previous build stays served. Returns false, without writing, if the lease is lost. */
export async function finishBuild(
  tx: Transaction,
  lease: JobLease,
  { code, revision }: Pick<ClaimedBuild, 'code' | 'revision'>,
  end: { readonly build: VectorBuild; readonly facts: Partial<SeenFacts> } | { readonly failed: CodedMessage },
): Promise<boolean> {
  // First the vector, then the job: a scan that writes the vector locks them in this order.
  await tx`SELECT FROM vectors WHERE code = ${code} FOR UPDATE`
  if (!(await endExclusiveJob(tx, lease))) return false
  const failed = 'failed' in end ? end.failed : null
  const { count } = await tx`
    UPDATE vectors SET
      build_tried = ${revision}, build_message = ${failed === null ? '' : textOf(failed)},
      build_message_coded = ${failed === null ? null : tx.json(failed as never)}, build_skipped = false, build_crashes = 0, build_retry_at = NULL,
      facts = ${'build' in end ? tx`CASE WHEN facts_fingerprint = fingerprint THEN facts || ${tx.json(end.facts as never)} ELSE facts END` : tx`facts`},
      build = ${'build' in end ? tx.json(end.build as never) : tx`build`},
      build_revision = ${'build' in end ? revision : tx`build_revision`}, updated_at = now()
    WHERE code = ${code} AND revision = ${revision}`
  return count > 0
}

/** Ends a build whose builder ended without a result; another attempt begins after `seconds`. Writes nothing if the lease is lost. */
export async function postponeBuild(
  tx: Transaction,
  lease: JobLease,
  { code, revision }: Pick<ClaimedBuild, 'code' | 'revision'>,
  seconds: number,
): Promise<void> {
  await tx`SELECT FROM vectors WHERE code = ${code} FOR UPDATE`
  if (!(await endExclusiveJob(tx, lease))) return
  await tx`
    UPDATE vectors SET build_crashes = build_crashes + 1, build_retry_at = now() + make_interval(secs => ${seconds})
    WHERE code = ${code} AND revision = ${revision}`
}

/** Ends the build of a vector within a second, wherever it runs. */
export async function endBuild(tx: Transaction, code: string): Promise<void> {
  await tx`DELETE FROM ONLY jobs WHERE kind = 'vector_build' AND code = ${code}`
}

/** Removes the tiles of all vectors. Returns the codes of those that had tiles, or waited for them. */
export async function skipBuilds(tx: Transaction): Promise<string[]> {
  const pending = await tx`SELECT FROM vectors WHERE build_tried < revision OR build IS NOT NULL LIMIT 1`
  // An update notifies the builders even if it changes no row, and the caller waits for this notification to call again.
  if (pending.length === 0) return []
  const rows = await tx<{ code: string }[]>`
    UPDATE vectors SET build_tried = revision, build_message = '', build_message_coded = NULL, build_skipped = true, build = NULL, build_revision = NULL
    WHERE build_tried < revision OR build IS NOT NULL
    RETURNING code`
  await tx`DELETE FROM ONLY jobs WHERE kind = 'vector_build'`
  return rows.map(({ code }) => code)
}

/** Queues the skipped builds. Returns their codes. */
export async function buildSkipped(tx: Transaction): Promise<string[]> {
  const rows = await tx<{ code: string }[]>`
    UPDATE vectors SET build_tried = 0, build_skipped = false WHERE build_skipped RETURNING code`
  return rows.map(({ code }) => code)
}

/** Stores what the tiles of tables and functions of databases are, by their codes. */
export async function setDatabaseTiles(
  tx: Transaction,
  builds: readonly { readonly code: string; readonly build: VectorBuild | null }[],
): Promise<void> {
  for (const { code, build } of builds)
    await tx`UPDATE vectors SET build = ${build === null ? null : tx.json(build as never)} WHERE code = ${code}`
}

/** Returns the folders of all served builds. */
export async function buildFolders(sql: Queryable): Promise<ReadonlySet<string>> {
  const rows = await sql<{ folder: string }[]>`SELECT build->>'folder' AS folder FROM vectors WHERE build IS NOT NULL`
  return new Set(rows.map(({ folder }) => folder))
}

export interface TileWishes {
  readonly wanted?: boolean | undefined
  readonly minZoom?: number | null | undefined
  readonly maxZoom?: number | null | undefined
  readonly fields?: readonly string[] | null | undefined
}

/** Stores the operator's settings of a vector's tiles. Tiles that are enabled again are rebuilt. */
export async function setTileWishes(tx: Transaction, code: string, wishes: TileWishes): Promise<void> {
  const { wanted, minZoom, maxZoom, fields } = wishes
  await tx`
    UPDATE vectors SET
      tiles_wanted = ${wanted ?? tx`tiles_wanted`},
      tile_min_zoom = ${minZoom === undefined ? tx`tile_min_zoom` : minZoom},
      tile_max_zoom = ${maxZoom === undefined ? tx`tile_max_zoom` : maxZoom},
      tile_fields = ${fields === undefined ? tx`tile_fields` : fields === null ? null : [...fields]},
      build = ${wanted === false ? null : tx`build`}, build_revision = ${wanted === false ? null : tx`build_revision`},
      build_tried = ${wanted === true ? 0 : tx`build_tried`}, build_crashes = 0, build_retry_at = NULL, updated_at = now()
    WHERE code = ${code}`
}
