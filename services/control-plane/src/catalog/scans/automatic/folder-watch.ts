import { type FSWatcher, watch } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import { isHidden } from '../walk/list-entries.js'

/**
 * Maximum depth of watched folders below the source. In a tile tree, the version's folder is the second level and its zooms are the third. A scan
 * lists these levels, and the thousands of columns below do not matter to it.
 */
export const WATCHED_DEPTH = { basemap: 3, vector: 32, style: 32 } as const
/** Maximum number of watches. The kernel uses about 1 KB for each, and its own limit may be lower. */
const MAX_WATCHES = 20_000

export interface WatchEvents {
  /** `path` below the folder; null: anything may have changed */
  readonly onChange: (path: string | null) => void
  /** The folder is no longer watched; `problem` tells the operator why. */
  readonly onProblem: (problem: string) => void
}

/** Companions of an SQLite file that appear and disappear even if it is only read. */
const PASSING = /-(shm|wal)$/
/** A companion that shows that the file itself is being written. */
const JOURNAL = /-journal$/

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
  #root = ''
  /** true if the tree has links: a file behind a link has two paths, and notifications contain only one of them */
  #hasLinks = false
  #closed = false

  constructor(events: WatchEvents, depth: number, most = MAX_WATCHES) {
    this.#events = events
    this.#depth = depth
    this.#most = most
  }

  /** Resolves when all existing folders are watched. Problems are reported by `onProblem`. */
  async open(root: string): Promise<void> {
    this.#root = root
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
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        this.#hasLinks ||= entry.isSymbolicLink()
        if (entry.isDirectory() && !isHidden(entry.name)) await this.#add(path.join(folder, entry.name), level + 1)
      }
    } catch (error) {
      this.#gone(folder, level, error as NodeJS.ErrnoException)
    }
  }

  #changed(folder: string, level: number, kind: string, name: string): void {
    if (this.#closed || PASSING.test(name)) return
    const isItself = name === '' || (level === 0 && name === path.basename(folder))
    const below = path.relative(this.#root, path.join(folder, name.replace(JOURNAL, '')))
    // Scans never read anything below hidden names. A notification names the folder itself when it is moved or deleted; its watch then reports
    // nothing more.
    if (isItself || this.#hasLinks) this.#events.onChange(null)
    else if (!below.split(path.sep).some(isHidden)) this.#events.onChange(below)
    if (kind !== 'rename') return
    this.#forget(path.join(folder, name))
    if (level < this.#depth) void this.#addIfFolder(path.join(folder, name), level + 1)
    if (level === 0 && isItself) void this.#checkRoot(folder)
  }

  async #addIfFolder(folder: string, level: number): Promise<void> {
    const stat = await lstat(folder).catch(() => null)
    this.#hasLinks ||= stat?.isSymbolicLink() ?? false
    if (stat?.isDirectory() && !isHidden(path.basename(folder))) await this.#add(folder, level)
  }

  async #checkRoot(root: string): Promise<void> {
    await readdir(root).catch((error) => this.#gone(root, 0, error as NodeJS.ErrnoException))
  }

  /** Drops the watches below a folder that was moved or deleted. If it has a new name, it is watched under that. */
  #forget(folder: string): void {
    if (!this.#watchers.has(folder)) return
    for (const [known, watcher] of this.#watchers) {
      if (known !== folder && !known.startsWith(`${folder}${path.sep}`)) continue
      watcher.close()
      this.#watchers.delete(known)
    }
  }

  #gone(folder: string, level: number, { code, message }: NodeJS.ErrnoException): void {
    // A folder that disappears while it is read is a change of its parent folder.
    if (level > 0 && (code === 'ENOENT' || code === 'ENOTDIR')) this.#forget(folder)
    else this.#fail(LIMITS.get(code ?? '') ?? `${folder} cannot be watched: ${message}`)
  }

  #fail(problem: string): void {
    if (this.#closed) return
    this.close()
    this.#events.onProblem(problem)
  }
}
