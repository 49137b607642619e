import { coded } from '@gateway/contracts/messages.js'
import { quoted, type Warnings, warn } from '../walk/found.js'
import type { FileKind } from './file-kinds.js'

interface Skipped extends FileKind {
  readonly folder: string
  readonly example: string
  readonly reason: string | undefined
  count: number
}

/** Maximum number of groups of kind and folder. Above it, all folders of a source count as one. */
const MAX_GROUPS = 5000

/** Matches numbered folders of a tile pyramid or a cache. */
const NUMBERED = /^(?:\d+|[LRC][0-9a-f]{2,8})$/i

/** Files that a walk skips, grouped by kind and folder, so that a million of them are one warning. */
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

/** Returns the folder of a file; for a file in numbered folders, the folder above the first of them. */
function folderOf(path: string): string {
  const folders = path.split('/').slice(0, -1)
  const first = folders.findIndex((name) => NUMBERED.test(name))
  return folders.slice(0, first < 0 ? undefined : first).join('/')
}
