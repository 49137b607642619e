import { MAX_KEPT_REVISIONS } from '@gateway/contracts/style.js'
import type { CatalogSize } from './basemaps.js'
import type { Queryable, Transaction } from './connect.js'
import { foundBy, type Keys, type Listed, type Listing, type ListRequest, readKeys, readList } from './listing.js'
import { whereCode } from './sql.js'

export interface StoredStyleSource {
  readonly name: string
  readonly kind: 'basemap' | 'vector'
  readonly code: string
  readonly version: string | null
}

/** The dependencies of a style; see `StyleDependencies` in libs/styles. */
export interface StoredStyleDependencies {
  readonly sources: readonly StoredStyleSource[]
  readonly fonts: readonly string[]
  readonly icons: readonly string[]
  readonly sprites: readonly string[]
  readonly files: readonly string[]
  readonly hosts: readonly string[]
}

/** A sprite in the folder of a style: finished files, or drawings that it is built from. */
export interface StoredSprite {
  readonly name: string
  /** absolute path: without `.json` for finished files, of the folder for drawings */
  readonly path: string
  readonly kind: 'files' | 'drawings'
  /** for finished files: true if there is a variant for displays with two pixels per point */
  readonly doubled: boolean
  readonly icons: readonly string[]
}

export interface StoredStyleAssets {
  readonly sprites: readonly StoredSprite[]
  /** data files of the style by their path below its folder, each with its absolute path */
  readonly files: readonly { readonly name: string; readonly path: string }[]
}

export interface StoredStyle {
  readonly code: string
  readonly name: string
  readonly sourceCode: string
  /** directory of its scan source; no file outside of it is served */
  readonly sourcePath: string
  readonly sourceEnabled: boolean
  readonly path: string
  readonly document: string
  readonly dependencies: StoredStyleDependencies
  readonly assets: StoredStyleAssets
  readonly fingerprint: string
  /** positive; increases whenever the content may have changed */
  readonly revision: number
  readonly available: boolean
  readonly withdrawn: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A font in the folder of a style source. */
export interface StoredFont {
  readonly name: string
  readonly kind: 'ranges' | 'outlines'
  readonly path: string
  /** face in a collection; null: the file has one font */
  readonly face: string | null
  readonly fingerprint: string
}

/** A font with the directory of its scan source. */
export interface ServedFont extends StoredFont {
  readonly root: string
}

/** Characters of a document that count like one row of another kind. */
const CHARACTERS_PER_ROW = 4096

/** Returns the codes of styles, with a number of rows by the length of each document; `codes` null: all of them. */
export async function readStyleSizes(sql: Queryable, codes: readonly string[] | null): Promise<CatalogSize[]> {
  const rows = await sql<CatalogSize[]>`
    SELECT code, 1 + length(document) / ${CHARACTERS_PER_ROW} AS rows FROM styles ${whereCode(sql, sql`code`, codes)} ORDER BY code`
  return [...rows]
}

/** Reads styles ordered by code; `codes` null: all of them. */
export async function readStyles(sql: Queryable, codes: readonly string[] | null): Promise<StoredStyle[]> {
  const rows = await sql<StoredStyle[]>`
    SELECT t.code, t.name, t.source_code AS "sourceCode", s.path AS "sourcePath", s.enabled AS "sourceEnabled", t.path, t.document, t.dependencies,
           t.assets, t.fingerprint, t.revision, t.available, t.withdrawn, t.created_at AS "createdAt", t.updated_at AS "updatedAt"
    FROM styles t JOIN scan_sources s ON s.code = t.source_code
    ${whereCode(sql, sql`t.code`, codes)}
    ORDER BY t.code COLLATE "C"`
  return [...rows]
}

export async function readStyle(sql: Queryable, code: string): Promise<StoredStyle | null> {
  return (await readStyles(sql, [code]))[0] ?? null
}

/** Returns the fonts of all enabled style sources. For equal names, the font of the first source by code comes first. */
export async function readServedFonts(sql: Queryable): Promise<ServedFont[]> {
  const rows = await sql<ServedFont[]>`
    SELECT f.name, f.kind, f.path, f.face, f.fingerprint, s.path AS root
    FROM style_fonts f JOIN scan_sources s ON s.code = f.source_code
    WHERE s.enabled ORDER BY f.name COLLATE "C", f.source_code COLLATE "C"`
  return [...rows]
}

export async function readFontsOfSource(sql: Queryable, sourceCode: string): Promise<StoredFont[]> {
  const rows = await sql<StoredFont[]>`
    SELECT name, kind, path, face, fingerprint FROM style_fonts WHERE source_code = ${sourceCode} ORDER BY name COLLATE "C"`
  return [...rows]
}

export type NewStyle = Pick<
  StoredStyle,
  'code' | 'name' | 'sourceCode' | 'path' | 'document' | 'dependencies' | 'assets' | 'fingerprint'
>

/** Creates or replaces a style, and makes it available. Its revision increases if its content changes. */
export async function upsertStyle(tx: Transaction, style: NewStyle): Promise<void> {
  const { code, name, sourceCode, path, document, dependencies, assets, fingerprint } = style
  await tx`
    INSERT INTO styles (code, name, source_code, path, document, dependencies, assets, fingerprint)
    VALUES (${code}, ${name}, ${sourceCode}, ${path}, ${document}, ${tx.json(dependencies as never)}, ${tx.json(assets as never)}, ${fingerprint})
    ON CONFLICT (code) DO UPDATE SET
      name = excluded.name, path = excluded.path, document = excluded.document, dependencies = excluded.dependencies, assets = excluded.assets,
      revision = styles.revision + (styles.fingerprint <> excluded.fingerprint)::int, fingerprint = excluded.fingerprint,
      available = true, updated_at = now()`
  await tx`
    INSERT INTO style_revisions (style_code, revision, document)
    SELECT code, revision, document FROM styles WHERE code = ${code} ON CONFLICT DO NOTHING`
  await tx`
    DELETE FROM style_revisions WHERE style_code = ${code} AND revision <= (
      SELECT revision FROM style_revisions WHERE style_code = ${code} ORDER BY revision DESC OFFSET ${MAX_KEPT_REVISIONS} LIMIT 1)`
}

export interface StoredStyleRevision {
  readonly revision: number
  readonly document: string
  readonly createdAt: Date
}

/** Returns the kept documents of a style, newest first. */
export async function readStyleDocuments(sql: Queryable, code: string): Promise<StoredStyleRevision[]> {
  const rows = await sql<StoredStyleRevision[]>`
    SELECT revision, document, created_at AS "createdAt" FROM style_revisions WHERE style_code = ${code} ORDER BY revision DESC`
  return [...rows]
}

export async function setStylesAvailable(tx: Transaction, codes: readonly string[], available: boolean): Promise<void> {
  await tx`
    UPDATE styles SET available = ${available}, updated_at = now() WHERE code = ANY(${codes as string[]}::text[])`
}

/** Replaces the fonts of a source. */
export async function replaceFonts(tx: Transaction, sourceCode: string, fonts: readonly StoredFont[]): Promise<void> {
  await tx`DELETE FROM style_fonts WHERE source_code = ${sourceCode}`
  for (const { name, kind, path, face, fingerprint } of fonts)
    await tx`
      INSERT INTO style_fonts (source_code, name, kind, path, face, fingerprint)
      VALUES (${sourceCode}, ${name}, ${kind}, ${path}, ${face}, ${fingerprint})`
}

export const STYLE_LISTING = {
  searched: { code: 't.code', name: 't.name' },
  sortable: {
    code: 't.code COLLATE "C"',
    name: 'lower(t.name)',
    source_code: 't.source_code',
    revision: 't.revision',
    available: 't.available',
    withdrawn: 't.withdrawn',
    created_at: 't.created_at',
    updated_at: 't.updated_at',
  },
  order: 'code',
  key: 't.code COLLATE "C"',
  filters: {
    source_code: 't.source_code = $',
    available: 't.available = $',
    withdrawn: 't.withdrawn = $',
    source_enabled: 's.enabled = $',
    scan: foundBy('t.source_code', 't.created_at'),
  },
} satisfies Listing

export async function listStyles(sql: Queryable, request: ListRequest): Promise<Listed<StoredStyle>> {
  const selection = { columns: sql`t.code`, from: listedStyles(sql) }
  const { items, total } = await readList<{ code: string }>(sql, STYLE_LISTING, selection, request)
  const codes = items.map(({ code }) => code)
  const found = new Map((await readStyles(sql, codes)).map((style) => [style.code, style]))
  return { items: codes.flatMap((code) => found.get(code) ?? []), total }
}

/** Returns the codes of at most `most` styles that match a list's filter. */
export function findStyleCodes(sql: Queryable, request: ListRequest, most: number): Promise<Keys> {
  return readKeys(sql, STYLE_LISTING, { columns: sql`t.code AS key`, from: listedStyles(sql) }, request, most)
}

function listedStyles(sql: Queryable) {
  return sql`styles t JOIN scan_sources s ON s.code = t.source_code`
}

/** The basemaps that are served with their versions, the codes of vectors that are, and the icons of each style that is. */
export async function readStylePartCodes(sql: Queryable): Promise<{
  readonly basemaps: readonly (readonly [code: string, versions: readonly string[]])[]
  readonly vectors: readonly string[]
  readonly icons: readonly (readonly [code: string, icons: readonly string[]])[]
}> {
  const basemaps = await sql<{ code: string; versions: string[] }[]>`
    SELECT b.code, array_agg(v.version) AS versions
    FROM basemaps b JOIN scan_sources s ON s.code = b.source_code JOIN basemap_versions v ON v.basemap_code = b.code
    WHERE s.enabled AND NOT b.withdrawn AND v.available AND NOT v.withdrawn GROUP BY b.code`
  const vectors = await sql<{ code: string }[]>`
    SELECT v.code FROM vectors v JOIN scan_sources s ON s.code = v.source_code WHERE s.enabled AND v.available AND NOT v.withdrawn`
  const styles = await sql<{ code: string; assets: StoredStyleAssets }[]>`
    SELECT t.code, t.assets FROM styles t JOIN scan_sources s ON s.code = t.source_code WHERE s.enabled AND t.available AND NOT t.withdrawn`
  return {
    basemaps: basemaps.map(({ code, versions }) => [code, versions]),
    vectors: vectors.map(({ code }) => code),
    icons: styles.map(({ code, assets }) => [code, assets.sprites.flatMap(({ icons }) => icons)]),
  }
}
