import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Storage } from '@gateway/contracts/basemap.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'
import type { ProbeResult } from '../../probe/probe-result.js'
import { stampOf } from './folder-stamp.js'

/** Another version of the gateway may probe the same folder with a different result. */
const PACKAGE_VERSION: string = JSON.parse(
  readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
).version
/** Increases whenever the same folder has another result within a version. */
const VERSION = `${PACKAGE_VERSION}-2`

/**
 * Milliseconds that a folder must have rested before it was probed: two changes within one tick of a file system's clock (2 s on FAT, 1 s on
 * old NFS servers) leave one time, and the probe may have seen only the first.
 */
const SETTLED_MS = 3_000

/** Storages whose folders a stamp covers. */
const TREES: ReadonlySet<Storage> = new Set<Storage>(['xyz', 'tms', 'zyx'])

interface Remembered {
  readonly stamp: string
  readonly probe: TileSetProbe
}

interface MemoryFile {
  readonly version: string
  readonly root: string
  readonly folders: readonly (readonly [path: string, remembered: Remembered])[]
}

/**
 * The results of the previous walk in each folder of tiles, kept in a file of this control plane. A folder is not probed again while its stamp stays:
 * its names, its metadata files, the times of its zooms and columns, and one tile of each zoom. Other tiles that are rewritten in place do not change
 * a folder, and fingerprints do not cover them either.
 */
export class RememberedProbes {
  readonly #file: string | null
  readonly #root: string
  readonly #before: ReadonlyMap<string, Remembered>
  readonly #now = new Map<string, Remembered>()
  #hasNew = false

  /** @param file null to remember nothing; a missing or unreadable file is like an empty one */
  constructor(file: string | null, root: string) {
    this.#file = file
    this.#root = root
    this.#before = new Map(file === null ? [] : foldersIn(file, root))
  }

  async probe(folder: string, look: () => Promise<ProbeResult>): Promise<ProbeResult> {
    if (this.#file === null) return look()
    const stamp = await stampOf(folder)
    const before = this.#before.get(folder)
    if (stamp !== null && before?.stamp === stamp.text) {
      this.#now.set(folder, before)
      return { state: 'ok', probe: before.probe }
    }
    // biome-ignore lint/plugin: calendar, against the times of folders
    const startedAt = Date.now()
    const result = await look()
    const isTree = result.state === 'ok' && TREES.has(result.probe.storage)
    if (isTree && stamp !== null && stamp.newestMs < startedAt - SETTLED_MS) {
      this.#now.set(folder, { stamp: stamp.text, probe: result.probe })
      this.#hasNew = true
    }
    return result
  }

  /** Stores the results atomically, unless they are those of the previous walk. If the disk refuses that, the next walk only takes longer. */
  save(): void {
    if (this.#file === null) return
    if (!this.#hasNew && this.#now.size === this.#before.size) return
    const content: MemoryFile = { version: VERSION, root: this.#root, folders: [...this.#now] }
    try {
      mkdirSync(dirname(this.#file), { recursive: true })
      writeFileSync(`${this.#file}.new`, JSON.stringify(content))
      renameSync(`${this.#file}.new`, this.#file)
    } catch {
      // The walk itself has succeeded.
    }
  }
}

function foldersIn(file: string, root: string): MemoryFile['folders'] {
  try {
    const content: MemoryFile = JSON.parse(readFileSync(file, 'utf8'))
    return content.version === VERSION && content.root === root ? content.folders : []
  } catch {
    return []
  }
}
