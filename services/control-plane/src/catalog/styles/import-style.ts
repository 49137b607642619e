import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import { codeSchema } from '@gateway/contracts/common.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { readStyle, type StoredStyle } from '@gateway/store/styles.js'
import { MAX_STYLE_BYTES } from '@gateway/styles/validate.js'
import type { ControlContext } from '../../platform/context.js'
import { landForNow, type PreparedLanding, prepareLanding } from '../../platform/files/landing.js'
import { CODE_EXISTS } from '../../platform/http/creates-only.js'
import { acceptScanned } from '../imports/accept-scanned.js'
import { importId } from '../imports/leftovers.js'
import { receiveFile } from '../imports/receive-file.js'
import { archiveNames, examineArchive, unpackArchive } from '../imports/unpack.js'
import { checkDocument } from './check-document.js'

/** Maximum number of folders above a file of a style. */
const MAX_DEPTH = 8
/** Matches files that programs leave in their archives. */
const LEFTOVER = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$)/

/**
 * Returns the folder of a style's archive that contains `style.json`, which may be the only folder at the top of the archive. Returns null if the
 * archive has no `style.json`, or two of them.
 */
function styleFolderOf(names: readonly string[]): string | null {
  const documents = names.filter((name) => /^([^/]+\/)?style\.json$/.test(name))
  const root = documents.find((name) => name === 'style.json')
  const [only] = documents
  const document = root ?? (documents.length === 1 ? only : undefined)
  return document === undefined ? null : document.slice(0, -'style.json'.length)
}

type ArchiveEntry = { readonly name: string } | 'leftover' | null

/** Returns the path of an entry below the folder of the style; null if the entry is not allowed there. */
function entryOfStyle(folder: string, entryName: string): ArchiveEntry {
  if (LEFTOVER.test(entryName)) return 'leftover'
  if (!entryName.startsWith(folder)) return null
  const name = entryName.slice(folder.length)
  const segments = name.split('/')
  const isPath = segments.length <= MAX_DEPTH && segments.every((segment) => codeSchema.safeParse(segment).success)
  return isPath ? { name } : null
}

/** Code of the scan source of imported styles. */
const IMPORTED_STYLES = 'imports-styles'
const DOCUMENT = 'style.json'

export type ImportForm = 'zip' | 'json'

export interface ImportedStyle {
  readonly ok: true
  readonly style: StoredStyle
  readonly files: number
  readonly created: boolean
  /** parts of the import that are not used, with the reasons */
  readonly warnings: readonly CodedMessage[]
}

/** Receives a style, as a document or a zip with all its parts, checks it, and registers it in the catalog. `isNew`: it replaces none. */
export async function importStyle(
  ctx: ControlContext,
  body: IncomingMessage,
  form: ImportForm,
  asked: string | undefined,
  isNew = false,
): Promise<ImportedStyle | Refusal> {
  const folder = path.join(ctx.settings.dataDir, 'imports')
  await mkdir(folder, { recursive: true })
  const spool = path.join(folder, `.${importId()}.spool.tmp`)
  const most = form === 'zip' ? ctx.settings.importMaxBytes : MAX_STYLE_BYTES
  try {
    return (await receiveFile(body, spool, most, 'wx')) ?? (await importStyleFile(ctx, spool, form, asked, isNew))
  } finally {
    await rm(spool, { force: true })
  }
}

/** Imports a received file, which stays. */
export function importStyleFile(
  ctx: ControlContext,
  spool: string,
  form: ImportForm,
  asked: string | undefined,
  isNew = false,
): Promise<ImportedStyle | Refusal> {
  const id = importId()
  return form === 'zip' ? fromArchive(ctx, spool, id, asked, isNew) : fromDocument(ctx, spool, id, asked, isNew)
}

async function fromArchive(ctx: ControlContext, spool: string, id: string, asked: string | undefined, isNew: boolean) {
  const listed = await archiveNames(spool)
  if (!listed.ok) return listed
  const folder = styleFolderOf(listed.names)
  if (folder === null) return refuse('invalid_parameters', coded('style_import_no_document'))
  const code = asked ?? codeOf(folder)
  if (code === null) return refuse('invalid_parameters', coded('style_import_no_code'))
  const taken = await takenBy(ctx, code, isNew)
  if (taken !== null) return taken
  const slotOf = (entryName: string) => {
    const entry = entryOfStyle(folder, entryName)
    return entry === 'leftover' || entry === null ? entry : { kind: 'folder' as const, place: code, name: entry.name }
  }
  const contents = await examineArchive(spool, slotOf, ctx.settings.importMaxBytes)
  if (!contents.ok) return contents
  const landing = await prepareLanding({ root: await sourceOfImports(ctx), kind: 'folder', place: code }, id, 1)
  return landed(ctx, landing, code, async () => {
    const unpacked = await unpackArchive(spool, slotOf, landing.stage.folder)
    if (!unpacked.ok) return unpacked
    const refused = await checkDocument(ctx, path.join(landing.stage.folder, DOCUMENT), code)
    return refused ?? unpacked
  })
}

/** Replaces only the document. Sprites, fonts and data of an earlier import stay. */
async function fromDocument(ctx: ControlContext, spool: string, id: string, asked: string | undefined, isNew: boolean) {
  if (asked === undefined) return refuse('invalid_parameters', coded('style_import_no_code'))
  const taken = await takenBy(ctx, asked, isNew)
  if (taken !== null) return taken
  const refused = await checkDocument(ctx, spool, asked)
  if (refused !== null) return refused
  const root = await sourceOfImports(ctx)
  const landing = await prepareLanding({ root, kind: 'files', place: `${asked}/${DOCUMENT}` }, id, 1)
  return landed(ctx, landing, asked, async () => {
    await mkdir(landing.stage.folder, { mode: 0o700 })
    await writeFile(path.join(landing.stage.folder, DOCUMENT), await readFile(spool), { mode: 0o600 })
    return { ok: true, names: [DOCUMENT] }
  })
}

type Staged = { readonly ok: true; readonly names: readonly string[] } | Refusal

async function landed(
  ctx: ControlContext,
  landing: PreparedLanding,
  code: string,
  stage: () => Promise<Staged>,
): Promise<ImportedStyle | Refusal> {
  try {
    const staged = await stage()
    if (!staged.ok) return staged
    const created = (await readStyle(ctx.sql, code)) === null
    const source = { code: IMPORTED_STYLES, kind: 'style', path: landing.root } as const
    const placed = await landForNow(landing, staged.names)
    const find = async () => {
      const style = await readStyle(ctx.sql, code)
      return style?.available === true ? style : null
    }
    const scanned = await acceptScanned(ctx, source, placed, {
      prefix: `${code}/`,
      find,
      unusable: 'style_import_unusable',
    })
    if (!scanned.ok) return scanned
    return { ok: true, style: scanned.found, files: staged.names.length, created, warnings: scanned.warnings }
  } finally {
    await rm(landing.stage.folder, { recursive: true, force: true })
  }
}

async function takenBy(ctx: ControlContext, code: string, isNew: boolean): Promise<Refusal | null> {
  const known = await readStyle(ctx.sql, code)
  if (known !== null && isNew) return CODE_EXISTS
  if (known === null || known.sourceCode === IMPORTED_STYLES) return null
  return refuse('conflict', coded('style_code_of_source', { source: known.sourceCode }))
}

function codeOf(folder: string): string | null {
  const parsed = codeSchema.safeParse(folder.replace(/\/$/, ''))
  return parsed.success ? parsed.data : null
}

/** Returns the directory of imported styles, and registers it as a scan source. */
async function sourceOfImports(ctx: ControlContext): Promise<string> {
  const root = path.join(ctx.settings.dataDir, 'imports', 'styles')
  await mkdir(root, { recursive: true, mode: 0o700 })
  const source = { code: IMPORTED_STYLES, kind: 'style', path: root, name: undefined, enabled: undefined } as const
  await ctx.sql.begin((tx) => upsertScanSource(tx, source))
  return root
}
