import fs from 'node:fs'
import { isVectorFormat } from '@gateway/contracts/basemap.js'
import { Compression } from 'pmtiles'
import { openArchive, type PmtilesArchive } from '../pmtiles/archive.js'
import { RunReader, type StoredRun, storedRuns } from '../pmtiles/stored-runs.js'
import type { ComparedSet } from './compare-sets.js'
import { isSame, type TileChange } from './join-tiles.js'

/** A run of consecutive tile numbers with the same change. */
export interface ChangedRun {
  readonly tileId: number
  readonly runLength: number
  readonly change: TileChange
}

/** Two open archives whose tiles can be compared in their stored form. */
export class ArchivePair {
  readonly #left: PmtilesArchive
  readonly #right: PmtilesArchive
  readonly #isPacked: boolean

  private constructor(left: PmtilesArchive, right: PmtilesArchive, isPacked: boolean) {
    this.#left = left
    this.#right = right
    this.#isPacked = isPacked
  }

  /** Returns null if a set is not a PMTiles archive of this machine, or the two store their tiles with different compressions. */
  static async open(left: ComparedSet, right: ComparedSet): Promise<ArchivePair | null> {
    if (left.storage !== 'pmtiles' || right.storage !== 'pmtiles' || left.format !== right.format) return null
    const one = await openArchive(left.root, left.path)
    if (!one.ok) return null
    const other = await openArchive(right.root, right.path)
    const isPacked = isVectorFormat(left.format)
    const said = [one, other].map((opening) => opening.ok && opening.archive.header.tileCompression)
    if (other.ok && said[0] === said[1] && (isPacked || said[0] !== Compression.Gzip))
      return new ArchivePair(one.archive, other.archive, isPacked)
    for (const opening of [one, other]) if (opening.ok) fs.closeSync(opening.archive.fd)
    return null
  }

  /**
   * Yields the runs that differ, with numbers in [first, end), in ascending order. Waits for the disk synchronously (`storedRuns`). Throws
   * `BrokenArchiveError` and the disk's errors.
   */
  *changes(first: number, end: number): Generator<ChangedRun> {
    const [ones, others] = [new Cursor(this.#left, first, end), new Cursor(this.#right, first, end)]
    // Successive runs with the same content are compared once.
    const compared = { one: -1, other: -1, same: true }
    while (ones.tileId < Number.POSITIVE_INFINITY || others.tileId < Number.POSITIVE_INFINITY) {
      const tileId = Math.min(ones.tileId, others.tileId)
      if (ones.tileId !== others.tileId) {
        const [cursor, behind] = ones.tileId < others.tileId ? [ones, others] : [others, ones]
        const runLength = Math.min(cursor.runLength, behind.tileId - tileId)
        yield {
          tileId,
          runLength,
          change: cursor === ones ? 'removed' : 'added',
        }
        cursor.pass(runLength)
        continue
      }
      const runLength = Math.min(ones.runLength, others.runLength)
      if (compared.one !== ones.offset || compared.other !== others.offset) {
        compared.one = ones.offset
        compared.other = others.offset
        compared.same = isSame(ones.data(), others.data(), this.#isPacked)
      }
      if (!compared.same) yield { tileId, runLength, change: 'changed' }
      ones.pass(runLength)
      others.pass(runLength)
    }
  }

  close(): void {
    fs.closeSync(this.#left.fd)
    fs.closeSync(this.#right.fd)
  }
}

/** The rest of the current run of an archive. */
class Cursor {
  readonly #runs: Generator<StoredRun>
  readonly #reader: RunReader
  #run: StoredRun | null = null
  /** Infinity: no run is left */
  tileId = Number.POSITIVE_INFINITY
  runLength = 0

  constructor(archive: PmtilesArchive, first: number, end: number) {
    this.#runs = storedRuns(archive, first, end)
    this.#reader = new RunReader(archive)
    this.#next()
  }

  get offset(): number {
    return this.#run?.offset ?? 0
  }

  /** Goes on by a number of tiles, of the current run at most. */
  pass(count: number): void {
    if (count < this.runLength) {
      this.tileId += count
      this.runLength -= count
    } else this.#next()
  }

  /** Returns the stored bytes of the current run, which are valid until the next call. */
  data(): Buffer {
    return this.#reader.read(this.#run as StoredRun)
  }

  #next(): void {
    const { done, value } = this.#runs.next()
    this.#run = done ? null : value
    this.tileId = this.#run?.tileId ?? Number.POSITIVE_INFINITY
    this.runLength = this.#run?.runLength ?? 0
  }
}
