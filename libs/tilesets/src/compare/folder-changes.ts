import { Worker } from 'node:worker_threads'
import { readAhead } from '@gateway/core/files/read-ahead.js'
import { listNumbers } from '../folder/listing.js'
import type { TileMatrixLimits } from '../tile-matrix-sets.js'
import { CHANGES, type ChangedTile, type ComparedColumn, columnChanges, type FolderPair } from './column-changes.js'
import type { ComparedSet } from './compare-sets.js'

/** The built file, even when the sources run (in tests). */
const THREAD = new URL('../../dist/compare/column-thread.js', import.meta.url)

/** Number of threads. More than the processors of a small machine, because a disk serves several readers together. */
const THREADS = 4

/** Limit of short-lived memory of a thread, which Node would let grow to 48 MB. */
const YOUNG_MB = 4

/** Number of columns that each thread has waiting, so that it is never idle. */
const WAITING = 4

/** A zoom with fewer columns is compared without threads, whose start takes longer. */
const MANY_COLUMNS = 64

/** Returns null if a set is not a folder. */
export function folderPair(left: ComparedSet, right: ComparedSet): FolderPair | null {
  const isFolder = ({ storage }: ComparedSet) => storage === 'xyz' || storage === 'tms'
  return isFolder(left) && isFolder(right) ? { left, right } : null
}

/** Yields the tiles of a zoom that differ, within limits, by column and row. */
export async function* folderChanges(
  pair: FolderPair,
  z: number,
  { minColumn, maxColumn, minRow, maxRow }: TileMatrixLimits,
): AsyncGenerator<ChangedTile> {
  const listed = await Promise.all([pair.left, pair.right].map(({ root, path }) => listNumbers(root, `${path}/${z}`)))
  const columns = [...new Set(listed.flat())].filter((x) => x >= minColumn && x <= maxColumn).sort((a, b) => a - b)
  const threads = columns.length < MANY_COLUMNS ? null : new ColumnThreads(pair)
  const compare = async (x: number) => {
    const column = { z, x, minRow, maxRow }
    return threads === null ? columnChanges(pair, column) : await threads.compare(column)
  }
  try {
    const next = readAhead(columns, threads === null ? 1 : THREADS * WAITING, compare)
    for (const x of columns) {
      const changes = await next()
      for (let i = 0; i < changes.length; i += 2) yield { z, x, y: changes[i]!, change: CHANGES[changes[i + 1]!]! }
    }
  } finally {
    await threads?.close()
  }
}

interface Waiting {
  readonly resolve: (changes: Uint32Array) => void
  readonly reject: (error: unknown) => void
}

/** Compares columns in threads, since small files wait for the kernel and not for JavaScript. */
class ColumnThreads {
  readonly #threads: { readonly worker: Worker; readonly waiting: Waiting[] }[]
  #asked = 0

  constructor(pair: FolderPair) {
    this.#threads = Array.from({ length: THREADS }, () => {
      const worker = new Worker(THREAD, { workerData: pair, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } })
      const waiting: Waiting[] = []
      worker.on('message', (changes: Uint32Array) => waiting.shift()?.resolve(changes))
      const fail = (error: unknown) => {
        for (const { reject } of waiting.splice(0)) reject(error)
      }
      worker.once('error', fail)
      worker.once('exit', (code) => fail(new Error(`a thread of the comparison ended with ${code}`)))
      return { worker, waiting }
    })
  }

  compare(column: ComparedColumn): Promise<Uint32Array> {
    const { worker, waiting } = this.#threads[this.#asked++ % THREADS]!
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      worker.postMessage(column)
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()))
  }
}
