import { codeSchema } from '@gateway/contracts/common.js'

/** Limit: folders above a file of a style. */
const MAX_DEPTH = 8
/** Files that programs leave in the archives that they make. */
const LEFTOVER = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$)/

/**
 * Where the files of a style's archive belong in the folder of the style: those of the folder that holds `style.json`, which may be the only one at the
 * top of the archive. null: the archive has no `style.json`, or two of them.
 */
export function styleFolderOf(names: readonly string[]): string | null {
  const documents = names.filter((name) => /^([^/]+\/)?style\.json$/.test(name))
  const root = documents.find((name) => name === 'style.json')
  const [only] = documents
  const document = root ?? (documents.length === 1 ? only : undefined)
  return document === undefined ? null : document.slice(0, -'style.json'.length)
}

export type ArchiveEntry = { readonly name: string } | 'leftover' | null

/** The path of an entry below the folder of the style; null: it cannot be there. */
export function entryOfStyle(folder: string, entryName: string): ArchiveEntry {
  if (LEFTOVER.test(entryName)) return 'leftover'
  if (!entryName.startsWith(folder)) return null
  const name = entryName.slice(folder.length)
  const segments = name.split('/')
  const isPath = segments.length <= MAX_DEPTH && segments.every((segment) => codeSchema.safeParse(segment).success)
  return isPath ? { name } : null
}
