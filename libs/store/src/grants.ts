import type { Queryable } from './sql.js'

/** Maximum number of codes that a misspelt one is compared with. */
const MAX_COMPARED = 5_000

/** Returns those codes that belong to no basemap, in their order. */
export async function unknownBasemaps(sql: Queryable, codes: readonly string[]): Promise<string[]> {
  const rows = await sql<{ code: string }[]>`
    SELECT given.code FROM unnest(${codes as string[]}::text[]) WITH ORDINALITY AS given (code, place)
    WHERE NOT EXISTS (SELECT FROM basemaps b WHERE b.code = given.code)
    ORDER BY given.place`
  return rows.map(({ code }) => code)
}

/** Returns those grants that match no vector by code, relative path or file name, in their order. */
export async function unknownVectors(sql: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT given.name FROM unnest(${names as string[]}::text[]) WITH ORDINALITY AS given (name, place)
    WHERE NOT EXISTS (SELECT FROM vectors v WHERE v.code = given.name)
      AND NOT EXISTS (SELECT FROM vectors v WHERE v.relative_path = given.name)
      AND NOT EXISTS (SELECT FROM vectors v WHERE v.file_name = given.name)
    ORDER BY given.place`
  return rows.map(({ name }) => name)
}

/** Returns the first 5,000 codes. */
export async function firstCodes(sql: Queryable, table: 'basemaps' | 'vectors'): Promise<string[]> {
  const rows = await sql<{ code: string }[]>`SELECT code FROM ${sql(table)} ORDER BY code LIMIT ${MAX_COMPARED}`
  return rows.map(({ code }) => code)
}
