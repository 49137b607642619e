import { coded } from '@gateway/contracts/messages.js'
import { quoted, type Warnings, warn } from '../walk/found.js'
import type { FileKind } from './file-kinds.js'

interface Skipped extends FileKind {
  readonly folder: string
  readonly example: string
  readonly reason: string | undefined
  count: number
}

/** Limit: kinds of files in folders that are told apart; beyond it the folders of a source count as one. */
const MAX_GROUPS = 5000

/** Folders of a pyramid of tiles or of a cache, which are numbered. */
const NUMBERED = /^(?:\d+|[LRC][0-9a-f]{2,8})$/i

/** Files that a walk leaves out, gathered by kind and folder, so that a million of them are one warning. */
export class SkippedFiles {
  readonly #groups = new Map<string, Skipped>()

  /** @param path below the source, with forward slashes */
  add(path: string, { code, format, ofSource = false }: FileKind, reason?: string): void {
    const folder = !ofSource && this.#groups.size < MAX_GROUPS ? folderOf(path) : ''
    const key = `${code}\n${format}\n${reason ?? ''}\n${folder}`
    const known = this.#groups.get(key)
    if (known !== undefined) known.count += 1
    else this.#groups.set(key, { code, format, folder, example: path, reason, count: 1 })
  }

  warnOfAll(warnings: Warnings): void {
    for (const { code, format, folder, example, reason, count } of this.#groups.values()) {
      const file = quoted(example)
      const params = {
        count,
        file,
        example: file,
        folder: quoted(folder || '.'),
        format,
        ...(reason !== undefined && { reason }),
      }
      warn(warnings, coded(code, params))
    }
  }
}

/** The folder of a file; of one in numbered folders, the folder above the first of those. */
function folderOf(path: string): string {
  const folders = path.split('/').slice(0, -1)
  const first = folders.findIndex((name) => NUMBERED.test(name))
  return folders.slice(0, first < 0 ? undefined : first).join('/')
}
