import { codeSchema } from '@gateway/contracts/common.js'

/** Maximum number of folders above a file of a style. */
const MAX_DEPTH = 8
/** Matches files that programs leave in their archives. */
const LEFTOVER = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$)/

/**
 * Returns the folder of a style's archive that contains `style.json`, which may be the only folder at the top of the archive. Returns null if the
 * archive has no `style.json`, or two of them.
 */
export function styleFolderOf(names: readonly string[]): string | null {
  const documents = names.filter((name) => /^([^/]+\/)?style\.json$/.test(name))
  const root = documents.find((name) => name === 'style.json')
  const [only] = documents
  const document = root ?? (documents.length === 1 ? only : undefined)
  return document === undefined ? null : document.slice(0, -'style.json'.length)
}

export type ArchiveEntry = { readonly name: string } | 'leftover' | null

/** Returns the path of an entry below the folder of the style; null if the entry is not allowed there. */
export function entryOfStyle(folder: string, entryName: string): ArchiveEntry {
  if (LEFTOVER.test(entryName)) return 'leftover'
  if (!entryName.startsWith(folder)) return null
  const name = entryName.slice(folder.length)
  const segments = name.split('/')
  const isPath = segments.length <= MAX_DEPTH && segments.every((segment) => codeSchema.safeParse(segment).success)
  return isPath ? { name } : null
}
