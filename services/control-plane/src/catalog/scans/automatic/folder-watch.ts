import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'

/**
 * Maximum depth of watched folders below the source. In a tile tree, the version's folder is the second level and its zooms are the third. A scan
 * lists these levels, and the thousands of columns below do not matter to it.
 */
export const WATCHED_DEPTH = { basemap: 3, vector: 32, style: 32 } as const
/** Maximum number of watches. The kernel uses about 1 KB for each, and its own limit may be lower. */
export const MAX_WATCHES = 20_000

export interface WatchEvents {
  readonly onChange: () => void
  /** called when the folder is no longer watched, with the reason for the operator */
  readonly onProblem: (problem: string) => void
}

/** Companions of an SQLite file that appear and disappear while it is only read. */
const PASSING = /-(shm|wal)$/

const LIMITS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the kernel allows no more watches (fs.inotify.max_user_watches)'],
  ['EMFILE', 'the kernel allows no more watchers (fs.inotify.max_user_instances)'],
])

/**
 * Reports changes in a folder and the folders below it by kernel notifications. A library would watch the whole tree, and a tile tree has more
 * folders than the kernel allows watches. Links are not followed.
 */
export class FolderWatch {
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #events: WatchEvents
  readonly #depth: number
  readonly #most: number
  #closed = false

  constructor(events: WatchEvents, depth: number, most = MAX_WATCHES) {
    this.#events = events
    this.#depth = depth
    this.#most = most
  }

  /** Resolves when all existing folders are watched. Problems are reported by `onProblem`. */
  async open(root: string): Promise<void> {
    await this.#add(root, 0)
  }

  get watches(): number {
    return this.#watchers.size
  }

  close(): void {
    this.#closed = true
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  async #add(folder: string, level: number): Promise<void> {
    if (this.#closed || this.#watchers.has(folder)) return
    if (this.#watchers.size >= this.#most) {
      this.#fail(`more than ${this.#most} folders are to be watched`)
      return
    }
    try {
      // Before the folder is listed, so that entries which appear in between are reported.
      const watcher = watch(folder, { persistent: false })
      this.#watchers.set(folder, watcher)
      watcher.on('change', (kind, name) => this.#changed(folder, level, kind, String(name ?? '')))
      watcher.on('error', (error) => this.#gone(folder, level, error as NodeJS.ErrnoException))
      if (level >= this.#depth) return
      for (const entry of await readdir(folder, { withFileTypes: true }))
        if (entry.isDirectory()) await this.#add(path.join(folder, entry.name), level + 1)
    } catch (error) {
      this.#gone(folder, level, error as NodeJS.ErrnoException)
    }
  }

  #changed(folder: string, level: number, kind: string, name: string): void {
    if (this.#closed || PASSING.test(name)) return
    this.#events.onChange()
    // The event names the folder itself if it was moved or deleted. Its watch then reports nothing more.
    if (kind !== 'rename') return
    this.#forget(path.join(folder, name))
    if (level < this.#depth) void this.#addIfFolder(path.join(folder, name), level + 1)
    if (level === 0 && name === path.basename(folder)) void this.#checkRoot(folder)
  }

  async #addIfFolder(folder: string, level: number): Promise<void> {
    const entries = await readdir(path.dirname(folder), { withFileTypes: true }).catch(() => [])
    if (entries.some((entry) => entry.name === path.basename(folder) && entry.isDirectory()))
      await this.#add(folder, level)
  }

  async #checkRoot(root: string): Promise<void> {
    await readdir(root).catch((error) => this.#gone(root, 0, error as NodeJS.ErrnoException))
  }

  /** Drops the watches below a folder that was moved or deleted. If it has a new name, it is watched under that. */
  #forget(folder: string): void {
    for (const [known, watcher] of this.#watchers) {
      if (known !== folder && !known.startsWith(`${folder}${path.sep}`)) continue
      watcher.close()
      this.#watchers.delete(known)
    }
  }

  #gone(folder: string, level: number, { code, message }: NodeJS.ErrnoException): void {
    // A folder that disappears during the look is a change of its parent folder.
    if (level > 0 && (code === 'ENOENT' || code === 'ENOTDIR')) this.#forget(folder)
    else this.#fail(LIMITS.get(code ?? '') ?? `${folder} cannot be watched: ${message}`)
  }

  #fail(problem: string): void {
    if (this.#closed) return
    this.close()
    this.#events.onProblem(problem)
  }
}
