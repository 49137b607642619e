import type { Bounds, VectorLayer } from '@gateway/contracts/basemap.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import type { Queryable, Sql, Transaction } from './connect.js'

/** Notifies every builder: a vector has another content, or other wishes for its tiles. */
export const VECTOR_BUILDS_CHANNEL = 'gateway_vector_builds'

/** What was built of a vector, and is served. */
export interface VectorBuild {
  /** absolute: holds index.gpkg, index.json and, if it has zooms, tiles.pmtiles */
  readonly folder: string
  /** null: no feature has a geometry, and there are no tiles */
  readonly minZoom: number | null
  readonly maxZoom: number | null
  readonly bounds: Bounds | null
  readonly leftOut: Readonly<Record<string, number>>
  readonly vectorLayers: readonly VectorLayer[]
  /** ISO 8601 */
  readonly builtAt: string
}

export interface BuildLease {
  /** the code of the vector */
  readonly id: string
  readonly owner: string
  readonly fence: number
}

/** What a claimed build is made of. */
export interface ClaimedBuild {
  readonly lease: BuildLease
  readonly code: string
  readonly name: string
  readonly kind: VectorKind
  readonly path: string
  readonly sourcePath: string
  readonly revision: number
  readonly encoding: string | null
  readonly crs: string | null
  readonly minZoom: number | null
  readonly maxZoom: number | null
}

/** Files up to this size are built by a lane of their own, which no large one holds up. */
const SMALL_BYTES = 16 * 1024 * 1024

/** Claims the smallest vector of a lane that has to be built, unless another process builds it; null: there is none. */
export async function claimBuild(
  sql: Sql,
  owner: string,
  leaseSeconds: number,
  isSmall: boolean,
): Promise<ClaimedBuild | null> {
  const [row] = await sql<(Omit<ClaimedBuild, 'lease'> & { fence: number })[]>`
    UPDATE vectors v SET
      build_owner = ${owner}, build_until = now() + make_interval(secs => ${leaseSeconds}), build_fence = build_fence + 1
    FROM scan_sources s
    WHERE s.code = v.source_code AND v.code = (
      SELECT code FROM vectors
      WHERE build_tried < revision AND available AND tiles_wanted AND (build_until IS NULL OR build_until < now())
        AND (size <= ${SMALL_BYTES}) = ${isSmall}
      ORDER BY size LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING v.code, v.name, coalesce(v.other_format, v.format, v.kind) AS kind, v.path, s.path AS "sourcePath", v.revision::float8 AS revision,
              coalesce(v.encoding, CASE WHEN v.facts->>'encoding_source' IS NULL THEN v.facts->>'encoding' END) AS encoding,
              v.facts->>'crs' AS crs, v.tile_min_zoom AS "minZoom", v.tile_max_zoom AS "maxZoom", v.build_fence::float8 AS fence`
  if (row === undefined) return null
  const { fence, ...claimed } = row
  return { ...claimed, lease: { id: claimed.code, owner, fence } }
}

/** Renews the lease. false: somebody else has it, or the vector has another content. */
export async function renewBuild(sql: Queryable, lease: BuildLease, leaseSeconds: number): Promise<boolean> {
  const { count } = await sql`
    UPDATE vectors SET build_until = now() + make_interval(secs => ${leaseSeconds}) WHERE ${holds(sql, lease)}`
  return count > 0
}

/** Ends a build; a failed one leaves what was served before. false: the lease is lost, and nothing was written. */
export async function finishBuild(
  tx: Transaction,
  lease: BuildLease,
  revision: number,
  end: { readonly build: VectorBuild } | { readonly failed: string },
): Promise<boolean> {
  const failed = 'failed' in end ? end.failed : null
  const { count } = await tx`
    UPDATE vectors SET
      build_tried = ${revision}, build_message = ${failed ?? ''}, build_owner = NULL, build_until = NULL, build_skipped = false,
      build = ${'build' in end ? tx.json(end.build as never) : tx`build`},
      build_revision = ${'build' in end ? revision : tx`build_revision`}, updated_at = now()
    WHERE ${holds(tx, lease)} AND revision = ${revision}`
  return count > 0
}

/** Gives a build back: its next builder need not wait for the lease to expire. */
export async function returnBuild(sql: Queryable, lease: BuildLease): Promise<void> {
  await sql`UPDATE vectors SET build_owner = NULL, build_until = NULL WHERE ${holds(sql, lease)}`
}

/** Leaves every vector without tiles; answers those that had some, or waited for them. */
export async function skipBuilds(tx: Transaction): Promise<string[]> {
  const rows = await tx<{ code: string }[]>`
    UPDATE vectors SET build_tried = revision, build_message = '', build_skipped = true, build = NULL, build_revision = NULL,
                       build_owner = NULL, build_until = NULL
    WHERE build_tried < revision OR build IS NOT NULL
    RETURNING code`
  return rows.map(({ code }) => code)
}

/** Builds what was skipped; answers the codes. */
export async function buildSkipped(tx: Transaction): Promise<string[]> {
  const rows = await tx<{ code: string }[]>`
    UPDATE vectors SET build_tried = 0, build_skipped = false WHERE build_skipped RETURNING code`
  return rows.map(({ code }) => code)
}

/** The folders of all builds that are served. */
export async function buildFolders(sql: Queryable): Promise<ReadonlySet<string>> {
  const rows = await sql<{ folder: string }[]>`SELECT build->>'folder' AS folder FROM vectors WHERE build IS NOT NULL`
  return new Set(rows.map(({ folder }) => folder))
}

export interface TileWishes {
  readonly wanted?: boolean | undefined
  readonly minZoom?: number | null | undefined
  readonly maxZoom?: number | null | undefined
}

/** Sets what an operator wants of the tiles; those that are wanted again are built again. */
export async function setTileWishes(tx: Transaction, code: string, wishes: TileWishes): Promise<void> {
  const { wanted, minZoom, maxZoom } = wishes
  await tx`
    UPDATE vectors SET
      tiles_wanted = ${wanted ?? tx`tiles_wanted`},
      tile_min_zoom = ${minZoom === undefined ? tx`tile_min_zoom` : minZoom},
      tile_max_zoom = ${maxZoom === undefined ? tx`tile_max_zoom` : maxZoom},
      build = ${wanted === false ? null : tx`build`}, build_revision = ${wanted === false ? null : tx`build_revision`},
      build_tried = ${wanted === true ? 0 : tx`build_tried`}, updated_at = now()
    WHERE code = ${code}`
}

function holds(sql: Queryable, { id, owner, fence }: BuildLease) {
  return sql`code = ${id} AND build_owner = ${owner} AND build_fence = ${fence}`
}
