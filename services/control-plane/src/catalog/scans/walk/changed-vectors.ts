import { lstatSync } from 'node:fs'
import { basename, dirname, extname, join, posix } from 'node:path'
import { SHAPEFILE_EXTENSIONS } from '@gateway/contracts/shapefile.js'
import { type Entry, entryOf, isGone } from './list-entries.js'
import { VECTOR_EXTENSIONS } from './vector-kinds.js'
import type { WalkedSource } from './walked-source.js'

/** Extensions of files that may belong to another one of the same name: those of vectors, and of the parts of a Shapefile. */
const EXTENSIONS = [...VECTOR_EXTENSIONS, ...[...SHAPEFILE_EXTENSIONS].map((extension) => `.${extension}`), '.shp.xml']
const BOTH_CASES = [...EXTENSIONS, ...EXTENSIONS.map((extension) => extension.toUpperCase())]

/** A path below a source without its extension, as the parts of a Shapefile share it. */
export function withoutExtension(path: string): string {
  const name = basename(path).replace(/\.shp\.xml$/i, '.shp')
  return posix.join(dirname(path), name.slice(0, name.length - extname(name).length))
}

/** The paths that changes of the given paths may affect: these paths, everything below them, and files of the same name. */
export class ChangedVectors {
  readonly #files: ReadonlySet<string>
  readonly #changed: readonly string[]

  constructor(changed: readonly string[]) {
    this.#changed = changed.filter((path) => !isInGeodatabase(path))
    this.#files = new Set(
      this.#changed.flatMap((path) => [
        path,
        ...BOTH_CASES.map((extension) => `${withoutExtension(path)}${extension}`),
      ]),
    )
  }

  has(relativePath: string): boolean {
    return this.#files.has(relativePath) || this.#changed.some((path) => relativePath.startsWith(`${path}/`))
  }

  /** Returns the existing files by folder, and the folders whose content must be scanned. Does not list a folder, which may have a million files. */
  find(source: WalkedSource): {
    readonly files: ReadonlyMap<string, readonly Entry[]>
    readonly folders: readonly string[]
  } {
    const files = new Map<string, Entry[]>()
    const folders: string[] = []
    for (const path of this.#files) {
      const entry = entryAt(source, path)
      if (entry === null || this.#isBelowAnother(path)) continue
      const folder = dirname(entry.path)
      if (entry.kind === 'file') files.set(folder, [...(files.get(folder) ?? []), entry])
      else if (this.#changed.includes(path)) folders.push(entry.path)
    }
    return { files, folders }
  }

  /** True if a folder above is scanned as a whole. */
  #isBelowAnother(path: string): boolean {
    return this.#changed.some((other) => path.startsWith(`${other}/`))
  }
}

/** True below a File Geodatabase: otherwise a scan would warn of each of its files. */
function isInGeodatabase(path: string): boolean {
  return path.split('/').some((name) => extname(name).toLowerCase() === '.gdb')
}

function entryAt(source: WalkedSource, path: string): Entry | null {
  const whole = join(source.root, path)
  try {
    return entryOf(source, dirname(whole), basename(whole), lstatSync(whole))
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}
