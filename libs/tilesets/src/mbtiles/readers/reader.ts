import type { Writable } from 'node:stream'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { KillableChild } from '@gateway/core/processes/killable-child.js'
import { ANSWER_BYTES, Answer, REQUEST_BYTES, Request } from './protocol.js'

/** The built file, used both by the sources (in tests) and by the build. */
const MODULE = new URL('../../../dist/mbtiles/readers/process.js', import.meta.url)

/** Maximum number of requests that are sent together, in one turn of the event loop. */
const MAX_BATCH = 1_024

/** An archive, with a number that identifies one content. */
export interface ReadArchive {
  readonly id: number
  /** absolute path of the scan source; `path` must not lead out of it */
  readonly root: string
  readonly path: string
  /** of the set; see `kindOf` */
  readonly format: TileFormat
}

/** A pending request for a tile. */
export interface PendingTile<Archive extends ReadArchive> {
  readonly id: number
  readonly archive: Archive
  readonly z: number
  readonly x: number
  readonly y: number
  /** true if only its existence is asked for */
  readonly isLook: boolean
}

export interface ReaderEvents<Pending> {
  /** `what`, `id` and `body` as in protocol.ts; `pending` null: the request was abandoned */
  answered(what: number, id: number, body: Buffer, pending: Pending | null): void
  /** called when the process has ended; its unanswered requests are still in `pending` */
  ended(how: string): void
}

/** One process that reads tiles, started by the constructor. It blocks on each read, so it communicates over its standard input and output. */
export class Reader<Pending extends PendingTile<ReadArchive>> {
  /** oldest first; the process works on the oldest */
  readonly pending = new Map<number, Pending>()
  readonly #events: ReaderEvents<Pending>
  readonly #child: KillableChild
  readonly #registered = new Set<number>()
  readonly #batch = Buffer.allocUnsafeSlow(MAX_BATCH * REQUEST_BYTES)
  #batched = 0
  readonly #head = Buffer.alloc(ANSWER_BYTES)
  #headFilled = 0
  #body: Buffer | null = null
  #bodyFilled = 0
  #ticks = 0
  #hasStarted = false
  #lastOldest: number | null = null

  /** @param prefix words in front of the command, such as those that end it with its parent */
  constructor(events: ReaderEvents<Pending>, prefix: readonly string[]) {
    this.#events = events
    this.#child = new KillableChild(
      { module: MODULE, prefix, stdio: ['pipe', 'pipe', 'inherit'] },
      { ended: (how) => events.ended(how) },
    )
    const { stdin, stdout } = this.#child.process
    // If no more files can be opened, there are neither pipes nor a process.
    if (!stdin || !stdout) throw Object.assign(new Error('no process starts'), { code: 'EMFILE' })
    stdin.on('error', () => {})
    stdout.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  get oldest(): Pending | undefined {
    return this.pending.values().next().value
  }

  /**
   * Returns the number of calls for which the oldest request has been the same: 0 if it has changed since the last call, and until the process
   * has started, which takes seconds if processors are short.
   */
  tick(): number {
    const oldest = this.oldest?.id ?? null
    this.#ticks = this.#hasStarted && oldest === this.#lastOldest ? this.#ticks + 1 : 0
    this.#lastOldest = oldest
    return this.#ticks
  }

  get #input(): Writable {
    return this.#child.process.stdin as Writable
  }

  request(tile: Pending): void {
    const { archive } = tile
    if (!this.#registered.has(archive.id)) {
      this.#registered.add(archive.id)
      const text = Buffer.from(JSON.stringify([archive.root, archive.path]))
      this.#put(Request.REGISTER, 0, archive.id, text.length, 0, 0)
      this.#flush()
      this.#input.write(text)
    }
    this.pending.set(tile.id, tile)
    this.#put(tile.isLook ? Request.LOOK : Request.TILE, tile.id, archive.id, tile.z, tile.x, tile.y)
  }

  forget(archive: ReadArchive): void {
    if (this.#registered.delete(archive.id)) this.#put(Request.FORGET, 0, archive.id, 0, 0, 0)
  }

  kill(): void {
    this.#child.kill()
  }

  #put(what: number, id: number, archive: number, a: number, b: number, c: number): void {
    if (this.#batched === 0) setImmediate(() => this.#flush())
    const batch = this.#batch
    let at = this.#batched
    for (const word of [what, id, archive, a, b, c]) at = batch.writeInt32LE(word, at)
    this.#batched = at
    if (this.#batched === this.#batch.length) this.#flush()
  }

  #flush(): void {
    if (this.#batched === 0) return
    this.#input.write(Buffer.from(this.#batch.subarray(0, this.#batched)))
    this.#batched = 0
  }

  /** Copies bodies out of the read chunk, so that a small cached tile does not keep a whole chunk in memory. */
  #take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#body === null) {
        const copied = chunk.copy(this.#head, this.#headFilled, at)
        at += copied
        this.#headFilled += copied
        if (this.#headFilled < ANSWER_BYTES) return
        this.#headFilled = 0
        this.#bodyFilled = 0
        this.#body = Buffer.allocUnsafeSlow(this.#head.readInt32LE(8))
      }
      const copied = chunk.copy(this.#body, this.#bodyFilled, at)
      at += copied
      this.#bodyFilled += copied
      if (this.#bodyFilled < this.#body.length) return
      const body = this.#body
      this.#body = null
      this.#answered(this.#head.readInt32LE(0), this.#head.readInt32LE(4), body)
    }
  }

  #answered(what: number, id: number, body: Buffer): void {
    if (what === Answer.STARTED) this.#hasStarted = true
    const pending = what === Answer.OPENED || what === Answer.STARTED ? null : (this.pending.get(id) ?? null)
    if (pending !== null) this.pending.delete(id)
    this.#events.answered(what, id, body, pending)
  }
}
