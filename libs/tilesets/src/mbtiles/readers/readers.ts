import { flipRow } from '../../address.js'
import { BrokenArchiveError } from '../../broken-archive.js'
import { kindOf } from '../../formats.js'
import { geopackagePlace } from '../../geopackage/place.js'
import type { Source, SourceLayout, Tile, TilePlace } from '../../source.js'
import { fromText } from '../page-layout.js'
import { Answer, type FailedText, type OpenedText } from './protocol.js'
import { type PendingTile, type ReadArchive, Reader } from './reader.js'

/** Interval of checking readers with pending requests. Ticks are counted instead of time, since a stopped process has not waited. */
const TICK_MS = 250
/** Number of ticks after which an archive is isolated: it gets a separate reader, and the others need not wait for it. */
const STALLED_TICKS = 4
/** Time from the request after which the result is `busy`; the same as for all reads from disks (DISK_LIMIT_MS). */
const READ_LIMIT_MS = 10_000
/** Time for which an archive that has hung is not read, initially and at most; it doubles. Each retry costs a process. */
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 60_000
/** Maximum number of isolated archives, each with a process of some 45 MB. If more hang at once, the others wait until one is abandoned. */
const MAX_ISOLATED = 4
/** Number of ticks without requests after which an isolated reader ends, and its archive returns to the common one. */
const IDLE_TICKS = 240
/** Maximum number of pending requests for one archive. */
const MAX_WAITING = 1_024
/** Maximum number of known archives, each with a database handle in the reader. */
const MAX_ARCHIVES = 256

/** `busy`: the archive did not respond in time, or has not lately. null: there is no such tile. */
export type ReadOutcome = Tile | null | 'busy'

export interface ReadersOptions {
  readonly onHang: (archive: ReadArchive) => void
  readonly onAnswer: (archive: ReadArchive) => void
  /** words in front of a reader's command, such as those that end it with its parent */
  readonly prefix?: () => readonly string[]
  readonly limitMs?: number
  readonly pauseMs?: number
}

interface Archive extends ReadArchive {
  opened: OpenedText | null
  waiting: number
  /** true if it has delayed others: it is read in isolation */
  isSuspect: boolean
  /** true if it did not respond within the limit, nor since */
  isHung: boolean
  pauseMs: number
  retryAtMs: number
}

interface Pending extends PendingTile<Archive> {
  readonly deadlineMs: number
  settle(outcome: ReadOutcome | Error): void
}

type TileReader = Reader<Pending>

/**
 * Reads the tiles of MBTiles archives in other processes. SQLite blocks on disks that may never respond, and malicious files may make it run
 * forever, so only a killed process ends such a read. One process reads all archives. An archive that does not respond keeps that
 * process, the others move to another one, and after READ_LIMIT_MS it is killed.
 */
export class MbtilesReaders {
  readonly #options: ReadersOptions
  readonly #limitMs: number
  readonly #pauseMs: number
  readonly #archives = new Map<number, Archive>()
  #shared: TileReader | null = null
  /** killed ones stay here until they have ended */
  readonly #isolated = new Map<Archive, TileReader>()
  readonly #ended = new WeakSet<TileReader>()
  #timer: NodeJS.Timeout | null = null
  #lastId = 0

  constructor(options: ReadersOptions) {
    this.#options = options
    this.#limitMs = options.limitMs ?? READ_LIMIT_MS
    this.#pauseMs = options.pauseMs ?? FIRST_PAUSE_MS
  }

  /** Returns an archive as a source. It is closed by `keepOnly`, or to make room: which ones may be closed depends on their behaviour. */
  source(archive: ReadArchive & { readonly rowsFromNorth?: boolean }): Source {
    // The reader of database pages without SQLite counts rows from the south.
    if (archive.rowsFromNorth === true) {
      const stored = ({ z, x, y }: TilePlace) => ({ z, x, y: flipRow(z, y) })
      return {
        tile: (place) => this.tile(archive, stored(place)),
        has: (place) => this.#has(archive, stored(place)),
        layout: () => null,
        close() {},
      }
    }
    return {
      tile: (place) => this.tile(archive, place),
      has: (place) => this.#has(archive, place),
      layout: () => this.#layout(archive),
      renewLayout: () => this.#closeAgain(archive),
      close() {},
    }
  }

  /** The next request opens it again. */
  #closeAgain({ id }: ReadArchive): void {
    const archive = this.#archives.get(id)
    if (archive === undefined) return
    this.#shared?.forget(archive)
    this.#isolated.get(archive)?.forget(archive)
  }

  #layout({ id, root, path }: ReadArchive): SourceLayout | null {
    const archive = this.#archives.get(id)
    if (archive?.opened?.layout == null || archive.isHung) return null
    const { identity, modifiedMs, layout } = archive.opened
    // The path of a table is the path of its file with the table's name after it.
    const file = geopackagePlace(path)?.file ?? path
    return { kind: 'database', root, path: file, identity, modifiedMs, ...fromText(layout) }
  }

  /** Rejects with `BrokenArchiveError`, and with the disk's errors. */
  tile(of: ReadArchive, place: TilePlace): Promise<ReadOutcome> {
    return this.#read(of, place, false)
  }

  async #has(of: ReadArchive, place: TilePlace): Promise<boolean | 'busy'> {
    const outcome = await this.#read(of, place, true)
    return outcome === 'busy' ? outcome : outcome !== null
  }

  #read(of: ReadArchive, { z, x, y }: TilePlace, isLook: boolean): Promise<ReadOutcome> {
    const archive = this.#archives.get(of.id) ?? this.#register(of)
    return new Promise((resolve, reject) => {
      const settle = (outcome: ReadOutcome | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome))
      if (archive.waiting >= MAX_WAITING || (archive.isHung && !this.#mayRetry(archive))) return settle('busy')
      this.#lastId = (this.#lastId + 1) & 0x7fffffff
      const deadlineMs = performance.now() + this.#limitMs
      this.#request({ id: this.#lastId, archive, z, x, y, isLook, deadlineMs, settle })
      // This request finds out whether the archive responds again, but its caller does not wait for that.
      if (archive.isHung) settle('busy')
    })
  }

  /** Closes all archives except these. */
  keepOnly(ids: ReadonlySet<number>): void {
    for (const archive of this.#archives.values()) if (!ids.has(archive.id)) this.#forget(archive)
  }

  /** Kills all processes. Pending requests never settle. */
  close(): void {
    this.#stopTimer()
    for (const reader of this.#readers()) {
      reader.pending.clear()
      this.#end(reader)
    }
  }

  #register({ id, root, path, format }: ReadArchive): Archive {
    if (this.#archives.size >= MAX_ARCHIVES) {
      const free = [...this.#archives.values()].find((archive) => archive.waiting === 0 && !archive.isSuspect)
      if (free !== undefined) this.#forget(free)
    }
    const state = { opened: null, waiting: 0, isSuspect: false, isHung: false, pauseMs: this.#pauseMs, retryAtMs: 0 }
    const archive: Archive = { id, root, path, format, ...state }
    this.#archives.set(id, archive)
    return archive
  }

  #forget(archive: Archive): void {
    this.#archives.delete(archive.id)
    this.#shared?.forget(archive)
  }

  /** True if a request may check whether an archive that has hung responds again. */
  #mayRetry(archive: Archive): boolean {
    return archive.waiting === 0 && !this.#isolated.has(archive) && performance.now() >= archive.retryAtMs
  }

  #request(pending: Pending): void {
    const reader = this.#readerOf(pending.archive)
    if (reader === null) {
      pending.settle('busy')
      return
    }
    pending.archive.waiting++
    reader.request(pending)
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS)
  }

  /** Returns null if too many archives hang. */
  #readerOf(archive: Archive): TileReader | null {
    if (!archive.isSuspect) {
      this.#shared ??= this.#start()
      return this.#shared
    }
    const isolated = this.#isolated.get(archive)
    if (isolated !== undefined || this.#isolated.size >= MAX_ISOLATED) return isolated ?? null
    const started = this.#start()
    this.#isolated.set(archive, started)
    return started
  }

  #start(): TileReader {
    const reader: TileReader = new Reader<Pending>(
      {
        answered: (what, id, body, pending) => this.#answered(what, id, body, pending),
        ended: (how) => this.#onEnded(reader, how),
      },
      this.#options.prefix?.() ?? [],
    )
    return reader
  }

  #answered(what: number, id: number, body: Buffer, pending: Pending | null): void {
    if (what === Answer.OPENED) {
      const archive = this.#archives.get(id)
      if (archive !== undefined) archive.opened = JSON.parse(body.toString()) as OpenedText
    }
    if (pending === null) return
    const { archive } = pending
    archive.waiting--
    if (archive.isHung) this.#recovered(archive)
    if (what === Answer.ABSENT) pending.settle(null)
    else if (what === Answer.FAILED) pending.settle(outcomeOf(JSON.parse(body.toString()) as FailedText))
    // The archive was forgotten while it was opened.
    else if (archive.opened === null) pending.settle('busy')
    else {
      const identity = `${archive.opened.identity}-${pending.z}-${pending.x}-${pending.y}`
      pending.settle({
        body,
        ...kindOf(archive.format, body),
        identity,
        modifiedMs: archive.opened.modifiedMs,
        file: null,
      })
    }
  }

  #recovered(archive: Archive): void {
    archive.isHung = false
    archive.pauseMs = this.#pauseMs
    this.#options.onAnswer(archive)
  }

  #tick(): void {
    const now = performance.now()
    for (const reader of this.#readers()) {
      const ticks = reader.tick()
      for (const pending of reader.pending.values()) if (pending.deadlineMs <= now) pending.settle('busy')
      const archive = reader.oldest?.archive
      if (archive === undefined) {
        if (ticks >= IDLE_TICKS && reader !== this.#shared) this.#end(reader)
        continue
      }
      const hasRoom = this.#isolated.size < MAX_ISOLATED
      if (reader === this.#shared && ticks >= STALLED_TICKS && hasRoom) this.#isolate(reader, archive)
      if (ticks * TICK_MS >= this.#limitMs) this.#abandon(reader, archive)
    }
    if (this.#readers().every((reader) => reader === this.#shared && reader.pending.size === 0)) this.#stopTimer()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  /** The archive keeps this reader. The requests of the others move to another one. */
  #isolate(reader: TileReader, archive: Archive): void {
    this.#shared = null
    archive.isSuspect = true
    this.#isolated.set(archive, reader)
    for (const pending of [...reader.pending.values()])
      if (pending.archive !== archive) this.#requestAgain(reader, pending)
  }

  #requestAgain(reader: TileReader, pending: Pending): void {
    reader.pending.delete(pending.id)
    pending.archive.waiting--
    this.#request(pending)
  }

  #abandon(reader: TileReader, archive: Archive): void {
    archive.isSuspect = true
    archive.retryAtMs = performance.now() + archive.pauseMs
    archive.pauseMs = Math.min(archive.pauseMs * 2, LONGEST_PAUSE_MS)
    if (!archive.isHung) this.#options.onHang(archive)
    archive.isHung = true
    if (reader === this.#shared) this.#shared = null
    for (const pending of [...reader.pending.values()]) {
      if (pending.archive !== archive) {
        this.#requestAgain(reader, pending)
        continue
      }
      reader.pending.delete(pending.id)
      archive.waiting--
      pending.settle('busy')
    }
    this.#end(reader)
  }

  #end(reader: TileReader): void {
    this.#ended.add(reader)
    reader.kill()
  }

  #onEnded(reader: TileReader, how: string): void {
    if (reader === this.#shared) this.#shared = null
    for (const [archive, own] of this.#isolated) {
      if (own !== reader) continue
      this.#isolated.delete(archive)
      archive.isSuspect = archive.isHung
    }
    // The archive in work may have ended the process. A killed process may have received requests since.
    const culprit = this.#ended.has(reader) ? undefined : reader.oldest?.archive
    if (culprit !== undefined) culprit.isSuspect = true
    for (const pending of [...reader.pending.values()]) {
      if (pending.archive !== culprit) {
        this.#requestAgain(reader, pending)
        continue
      }
      pending.archive.waiting--
      pending.settle(new Error(`the process that read the archive ended: ${how}`))
    }
  }

  #readers(): TileReader[] {
    const all = [...this.#isolated.values(), ...(this.#shared === null ? [] : [this.#shared])]
    return all.filter((reader) => !this.#ended.has(reader))
  }
}

function outcomeOf({ broken, locked, message }: FailedText): 'busy' | Error {
  if (locked) return 'busy'
  return broken ? new BrokenArchiveError(message) : new Error(message)
}
