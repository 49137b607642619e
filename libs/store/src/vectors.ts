import type { VectorKind } from '@gateway/contracts/vector.js'
import type { Queryable, Transaction } from './connect.js'

export interface StoredVector {
  readonly code: string
  readonly name: string
  readonly kind: VectorKind
  readonly relativePath: string
  readonly fileName: string
  readonly path: string
  /** bytes, sidecar files included */
  readonly size: number
  readonly modifiedAt: Date
  readonly fingerprint: string
  readonly available: boolean
  readonly sourceCode: string
  /** the directory of its scan source, out of which no file is served */
  readonly sourcePath: string
}

interface VectorRow {
  code: string
  name: string
  kind: VectorKind
  relative_path: string
  file_name: string
  path: string
  size: number
  modified_at: Date
  fingerprint: string
  available: boolean
  source_code: string
  source_path: string
}

/** Vectors ordered by code; `codes` null reads all of them. */
export async function readVectors(sql: Queryable, codes: readonly string[] | null): Promise<StoredVector[]> {
  const rows = await sql<VectorRow[]>`
    SELECT v.code, v.name, v.kind, v.relative_path, v.file_name, v.path, v.size, v.modified_at, v.fingerprint, v.available,
           v.source_code, s.path AS source_path
    FROM vectors v JOIN scan_sources s ON s.code = v.source_code
    WHERE ${codes as string[] | null}::text[] IS NULL OR v.code = ANY(${codes as string[] | null}::text[])
    ORDER BY v.code COLLATE "C"`
  return rows.map(toVector)
}

export async function readVector(sql: Queryable, code: string): Promise<StoredVector | null> {
  return (await readVectors(sql, [code]))[0] ?? null
}

/** What names the content of each vector of a source, by relative path. */
export async function readVectorFingerprints(sql: Queryable, sourceCode: string): Promise<Map<string, string>> {
  const rows = await sql<{ relative_path: string; fingerprint: string }[]>`
    SELECT relative_path, fingerprint FROM vectors WHERE source_code = ${sourceCode}`
  return new Map(rows.map((row) => [row.relative_path, row.fingerprint]))
}

export type NewVector = Omit<StoredVector, 'available' | 'sourcePath'>

/** Creates a vector or replaces what is known of it, and makes it available. The code of a known relative path never changes. */
export async function upsertVectors(tx: Transaction, vectors: readonly NewVector[]): Promise<void> {
  // Rows travel as columns of arrays: one statement, whatever their number.
  await tx`
    INSERT INTO vectors (code, name, kind, relative_path, file_name, path, size, modified_at, fingerprint, source_code)
    SELECT * FROM unnest(
      ${vectors.map((v) => v.code)}::text[], ${vectors.map((v) => v.name)}::text[], ${vectors.map((v) => v.kind)}::text[],
      ${vectors.map((v) => v.relativePath)}::text[], ${vectors.map((v) => v.fileName)}::text[], ${vectors.map((v) => v.path)}::text[],
      ${vectors.map((v) => v.size)}::bigint[], ${vectors.map((v) => v.modifiedAt.toISOString())}::timestamptz[],
      ${vectors.map((v) => v.fingerprint)}::text[], ${vectors.map((v) => v.sourceCode)}::text[])
    ON CONFLICT (code) DO UPDATE SET
      name = excluded.name, kind = excluded.kind, relative_path = excluded.relative_path, file_name = excluded.file_name,
      path = excluded.path, size = excluded.size, modified_at = excluded.modified_at, fingerprint = excluded.fingerprint,
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

function toVector(row: VectorRow): StoredVector {
  return {
    code: row.code,
    name: row.name,
    kind: row.kind,
    relativePath: row.relative_path,
    fileName: row.file_name,
    path: row.path,
    size: row.size,
    modifiedAt: row.modified_at,
    fingerprint: row.fingerprint,
    available: row.available,
    sourceCode: row.source_code,
    sourcePath: row.source_path,
  }
}
