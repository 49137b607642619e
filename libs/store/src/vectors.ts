import type { CodedMessage } from '@gateway/contracts/messages.js'
import type { ReadFacts, VectorKind } from '@gateway/contracts/vector.js'
import type { CatalogSize } from './basemaps.js'
import type { Queryable, Transaction } from './connect.js'
import { whereCode } from './sql.js'
import type { VectorBuild } from './vector-builds.js'

export interface StoredVector {
  readonly code: string
  readonly name: string
  readonly kind: VectorKind
  readonly relativePath: string
  readonly fileName: string
  readonly path: string
  /** bytes, including sidecar files */
  readonly size: number
  readonly modifiedAt: Date
  readonly fingerprint: string
  readonly available: boolean
  readonly sourceCode: string
  /** the directory of its scan source; files outside are not served */
  readonly sourcePath: string
  /** true if its scan source is enabled: vectors of a disabled one are not served */
  readonly sourceEnabled: boolean
  /** true if an operator has withdrawn it from its readers */
  readonly withdrawn: boolean
  /** facts that a scan read from its content; null: not read in its present state */
  readonly facts: ReadFacts | null
  /** set by an operator, and overrides the encoding that its files declare; null: not set */
  readonly setEncoding: string | null
  /** incremented when its content, or the settings of its tiles, may have changed */
  readonly revision: number
  /** `queued`: its tiles wait for a build, or are being built */
  readonly tiles: {
    readonly wanted: boolean
    readonly queued: boolean
    /** reason why the last build failed; empty if it did not fail */
    readonly message: string
    readonly messageCoded: CodedMessage | null
    readonly setMinZoom: number | null
    readonly setMaxZoom: number | null
    readonly fields: readonly string[] | null
    /** the served build and its revision; null: none */
    readonly build: VectorBuild | null
    readonly buildRevision: number | null
  }
}

/** Returns the codes of vectors in order; `codes` null returns all. */
export async function readVectorSizes(sql: Queryable, codes: readonly string[] | null): Promise<CatalogSize[]> {
  const rows = await sql<CatalogSize[]>`
    SELECT code, 1 AS rows FROM vectors
    ${whereCode(sql, sql`code`, codes)}
    ORDER BY code`
  return [...rows]
}

/** Returns vectors ordered by code; `codes` null returns all. */
export async function readVectors(sql: Queryable, codes: readonly string[] | null): Promise<StoredVector[]> {
  const rows = await sql<StoredVector[]>`
    SELECT v.code, v.name, coalesce(v.other_format, v.format, v.kind) AS kind, v.relative_path AS "relativePath", v.file_name AS "fileName", v.path, v.size,
           v.modified_at AS "modifiedAt", v.fingerprint, v.available, v.source_code AS "sourceCode", s.path AS "sourcePath",
           s.enabled AS "sourceEnabled", v.withdrawn, CASE WHEN v.facts_fingerprint = v.fingerprint THEN v.facts END AS facts,
           v.encoding AS "setEncoding", v.revision::float8 AS revision,
           jsonb_build_object('wanted', v.tiles_wanted, 'queued', v.tiles_wanted AND v.available AND NOT v.withdrawn AND v.build_tried < v.revision, 'message', v.build_message, 'messageCoded', v.build_message_coded,
             'setMinZoom', v.tile_min_zoom, 'setMaxZoom', v.tile_max_zoom, 'fields', v.tile_fields, 'build', v.build, 'buildRevision', v.build_revision) AS tiles
    FROM vectors v JOIN scan_sources s ON s.code = v.source_code
    ${whereCode(sql, sql`v.code`, codes)}
    ORDER BY v.code COLLATE "C"`
  return [...rows]
}

export async function readVector(sql: Queryable, code: string): Promise<StoredVector | null> {
  return (await readVectors(sql, [code]))[0] ?? null
}

/** The known facts about a file, which save another read. */
export interface KnownFile {
  /** identifies its content */
  readonly fingerprint: string
  readonly kind: VectorKind
  /** see `ReadFacts` */
  readonly warnings: readonly CodedMessage[]
}

/** Each vector of a source whose facts are known, by relative path. */
export async function readKnownFiles(
  sql: Queryable,
  sourceCode: string,
  beginnings: readonly string[] | null = null,
): Promise<Map<string, KnownFile>> {
  const rows = await sql<({ path: string } & KnownFile)[]>`
    SELECT relative_path AS path, fingerprint, coalesce(other_format, format, kind) AS kind, coalesce(facts->'warnings', '[]') AS warnings
    FROM vectors WHERE source_code = ${sourceCode} AND facts_fingerprint = fingerprint ${andBeginning(sql, beginnings)}`
  return new Map(rows.map(({ path, ...known }) => [path, known]))
}

function andBeginning(sql: Queryable, beginnings: readonly string[] | null) {
  return beginnings === null
    ? sql``
    : sql`AND EXISTS (SELECT FROM unnest(${beginnings as string[]}::text[]) one WHERE starts_with(relative_path, one))`
}

/** Returns the vectors of a source whose relative path begins with one of these texts. */
export async function readVectorsBeginning(
  sql: Queryable,
  sourceCode: string,
  beginnings: readonly string[],
): Promise<StoredVector[]> {
  const rows = await sql<{ code: string }[]>`
    SELECT code FROM vectors WHERE source_code = ${sourceCode} ${andBeginning(sql, beginnings)}`
  return rows.length === 0
    ? []
    : readVectors(
        sql,
        rows.map(({ code }) => code),
      )
}

/** Returns the codes of vectors, of any source, that begin with one of these texts. */
export async function readCodesBeginning(sql: Queryable, beginnings: readonly string[]): Promise<Set<string>> {
  if (beginnings.length === 0) return new Set()
  const rows = await sql<{ code: string }[]>`
    SELECT code FROM vectors WHERE EXISTS (SELECT FROM unnest(${beginnings as string[]}::text[]) one WHERE starts_with(code, one))`
  return new Set(rows.map(({ code }) => code))
}

export type NewVector = Omit<
  StoredVector,
  'available' | 'sourcePath' | 'sourceEnabled' | 'withdrawn' | 'setEncoding' | 'revision' | 'tiles'
>

/** Kinds that the column `kind` accepts; others are in `format` (see migration 0015). */
const FIRST_KINDS: ReadonlySet<VectorKind> = new Set(['geojson', 'shapefile'])
/** Kinds that `format` accepts; others are in `other_format` (see migration 0032). */
const SECOND_KINDS: ReadonlySet<VectorKind> = new Set(['geopackage', 'flatgeobuf'])

/**
 * Creates a vector or replaces its data, and makes it available. The code of a known relative path never changes. Null facts leave the
 * known ones.
 */
export async function upsertVectors(tx: Transaction, vectors: readonly NewVector[]): Promise<void> {
  // Passes rows as arrays of columns: one statement for any number of rows.
  await tx`
    INSERT INTO vectors (code, name, kind, format, other_format, relative_path, file_name, path, size, modified_at, fingerprint, source_code, facts,
                         facts_fingerprint)
    SELECT code, name, coalesce(kind, 'geojson'), format, other_format, relative_path, file_name, path, size, modified_at, fingerprint, source_code,
           facts::jsonb, CASE WHEN facts IS NOT NULL THEN fingerprint END
    FROM unnest(
      ${vectors.map((v) => v.code)}::text[], ${vectors.map((v) => v.name)}::text[],
      ${vectors.map((v) => (FIRST_KINDS.has(v.kind) ? v.kind : null))}::text[],
      ${vectors.map((v) => (SECOND_KINDS.has(v.kind) ? v.kind : null))}::text[],
      ${vectors.map((v) => (FIRST_KINDS.has(v.kind) || SECOND_KINDS.has(v.kind) ? null : v.kind))}::text[],
      ${vectors.map((v) => v.relativePath)}::text[], ${vectors.map((v) => v.fileName)}::text[], ${vectors.map((v) => v.path)}::text[],
      ${vectors.map((v) => v.size)}::bigint[], ${vectors.map((v) => v.modifiedAt.toISOString())}::timestamptz[],
      ${vectors.map((v) => v.fingerprint)}::text[], ${vectors.map((v) => v.sourceCode)}::text[],
      ${vectors.map((v) => (v.facts === null ? null : JSON.stringify(v.facts)))}::text[])
      AS new (code, name, kind, format, other_format, relative_path, file_name, path, size, modified_at, fingerprint, source_code, facts)
    ON CONFLICT (code) DO UPDATE SET
      name = excluded.name, kind = excluded.kind, format = excluded.format, other_format = excluded.other_format, relative_path = excluded.relative_path,
      file_name = excluded.file_name, path = excluded.path, size = excluded.size, modified_at = excluded.modified_at, fingerprint = excluded.fingerprint,
      facts = coalesce(excluded.facts, vectors.facts),
      facts_fingerprint = coalesce(excluded.facts_fingerprint, vectors.facts_fingerprint),
      available = true, updated_at = now()`
}

export async function setVectorsAvailable(
  tx: Transaction,
  codes: readonly string[],
  available: boolean,
): Promise<void> {
  await tx`
    UPDATE vectors SET available = ${available}, updated_at = now() WHERE code = ANY(${codes as string[]}::text[])`
}

/** Sets the encoding of its texts; null: the encoding that its files declare. Returns false if there is no such vector. */
export async function setVectorEncoding(tx: Transaction, code: string, encoding: string | null): Promise<boolean> {
  const rows = await tx`
    UPDATE vectors SET encoding = ${encoding}, updated_at = now() WHERE code = ${code} RETURNING code`
  return rows.length > 0
}
