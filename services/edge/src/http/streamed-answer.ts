import { endHead } from '@gateway/native-edge/transfer/head-answer.js'
import { StallWatch } from '@gateway/native-edge/transfer/stall-watch.js'
import { ENDLESS } from '@gateway/native-edge/transfer/types.js'
import type { HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { type ConnectionEnd, sayEnd } from './connection-end.js'

export interface StreamedHead {
  readonly status: string
  readonly headers: readonly (readonly [string, string])[]
  /** Bytes of the body; null if not known, in which case it is sent in chunks, or ends with the connection. */
  readonly length: number | null
  /** Sends such a body to a client that knows no chunks (`readUnchunked`); null for a client that does. */
  readonly unchunked: Unchunked | null
  /** True for events, each of which is sent whole as soon as it is there. */
  readonly isOfEvents: boolean
  /** True if the response has no body by its status or method, regardless of `length`. */
  readonly bodiless: boolean
  readonly end: ConnectionEnd
  readonly onComplete: (bytes: number) => void
}

/** See `sendUntilClose` of FileSender. */
export type Unchunked = (res: HttpResponse, first: Uint8Array) => boolean

const NOTHING = new Uint8Array(0)
/**
 * Bytes of a chunk that are held back while the socket is full. The server drains its buffer only on a write, so one byte is written at each
 * writable event until the buffer is empty; 32 events drain far more than one chunk.
 */
const HELD_BYTES = 32
/** A shorter chunk (usually an event) is written whole: it fits into the socket, or the server drains it by itself. */
const UNSPLIT_BYTES = 1_024

/**
 * Limits: bytes buffered for a slow client, of one response and of all responses of this process. A client that reads nothing then occupies
 * none of the few connections to the control plane, unless its response is longer.
 */
const KEPT_BYTES = 1024 * 1024
const KEPT_OF_ALL_BYTES = 64 * 1024 * 1024
let keptOfAll = 0

/** Statuses that never carry a Content-Length (RFC 9110, 8.6), or need none, since no body follows. */
const LENGTHLESS = /^(1|204|205|304)/

/** Time in ms without progress after which a client is considered gone. */
const STALL_LIMIT_MS = 60_000

const watch = new StallWatch(STALL_LIMIT_MS)

/**
 * A response whose body arrives in pieces. Head and pieces are sent as they arrive, each in one write. No method may be called after `gone`.
 */
export class StreamedAnswer {
  readonly #res: HttpResponse
  readonly #head: StreamedHead
  /** Like that of the head; `ENDLESS` while a body that ends with its connection is sent. */
  #length: number | null
  /** The last byte of such a body, which must be known as the last one when it is sent. */
  #last: Buffer = Buffer.alloc(0)
  #sent = 0
  #rest: Uint8Array = NOTHING
  /** Follows `#rest`. */
  #kept: Buffer[] = []
  #keptBytes = 0
  #resume: (() => void) | null = null
  #ending = false
  #over = false
  #listening = false

  constructor(res: HttpResponse, head: StreamedHead) {
    this.#res = res
    this.#head = head
    this.#length = head.length
    res.cork(() => {
      res.writeStatus(head.status)
      for (const [name, value] of head.headers) res.writeHeader(name, value)
      // Must precede the body: after chunks the server would write the header into the body.
      sayEnd(res, head.end)
    })
  }

  write(arrived: Buffer, pause: () => void, resume: () => void): void {
    if (this.#over || this.#head.bodiless || arrived.length === 0) return
    const chunk = this.#withoutLast(arrived)
    if (chunk.length === 0) return
    if (this.#rest.length === 0) {
      if (!this.#write(chunk) && !this.#over) watch.add(this, chunk.length)
      return
    }
    this.#kept.push(chunk)
    this.#keptBytes += chunk.length
    keptOfAll += chunk.length
    if (this.#keptBytes < KEPT_BYTES && keptOfAll < KEPT_OF_ALL_BYTES) return
    this.#resume = resume
    pause()
  }

  end(): void {
    if (this.#over) return
    this.#ending = true
    if (this.#rest.length > 0 || this.#kept.length > 0) return
    if (this.#last.length > 0) {
      this.#endUnchunked()
      return
    }
    this.#res.cork(() => {
      if (this.#head.bodiless) this.#endBodiless()
      else if (this.#length === null || this.#length === 0) this.#res.end()
      else this.#res.close()
    })
    this.#complete()
  }

  /** Holds back the last byte of a body without a length or chunks, because only a body that is complete ends without losing bytes. */
  #withoutLast(arrived: Buffer): Buffer {
    if (this.#head.length !== null || this.#head.unchunked === null || this.#head.isOfEvents) return arrived
    const whole = this.#last.length === 0 ? arrived : Buffer.concat([this.#last, arrived])
    this.#last = whole.subarray(-1)
    return whole.subarray(0, -1)
  }

  #endUnchunked(): void {
    const last = this.#last
    this.#last = Buffer.alloc(0)
    this.#length = this.#sent + last.length
    if (!this.#writeKnown(last, this.#length)) watch.add(this, last.length)
  }

  gone(): void {
    this.#over = true
    this.#forget()
  }

  keepWaiting(): void {
    if (!this.#over) this.#res.resume()
  }

  stalled(): void {
    if (!this.#over) this.#res.close()
  }

  #endBodiless() {
    const { length, status } = this.#head
    if (length !== null && length > 0 && !LENGTHLESS.test(status)) return endHead(this.#res, length)
    // Without arguments: with any, even undefined, the server announces a length for which the client then waits.
    this.#res.endWithoutBody()
  }

  /** Returns false if the socket is full and `#rest` waits. */
  #write(piece: Uint8Array): boolean {
    const { unchunked } = this.#head
    if (this.#length === null && unchunked !== null) return this.#begin(piece, unchunked)
    return this.#length === null ? this.#writeChunk(piece) : this.#writeKnown(piece, this.#length)
  }

  /** Begins a body that ends with its connection. */
  #begin(piece: Uint8Array, unchunked: Unchunked): boolean {
    this.#length = ENDLESS
    let isBegun = false
    this.#res.cork(() => {
      isBegun = unchunked(this.#res, piece.subarray(0, 1))
    })
    if (!isBegun) {
      this.#over = true
      this.#forget()
      this.#res.close()
      return true
    }
    this.#sent = this.#res.getWriteOffset()
    const rest = piece.subarray(this.#sent)
    return rest.length === 0 || this.#writeKnown(rest, ENDLESS)
  }

  #writeKnown(piece: Uint8Array, length: number): boolean {
    let result: [boolean, boolean] = [false, false]
    this.#res.cork(() => {
      result = this.#res.tryEnd(piece, length)
    })
    if (result[1]) {
      this.#sent = length
      this.#complete()
      return true
    }
    const taken = this.#res.getWriteOffset() - this.#sent
    this.#sent += taken
    if (result[0]) return true
    this.#wait(piece.subarray(taken))
    return false
  }

  /** Returns false if the socket is full and `#rest` waits. */
  #writeChunk(piece: Uint8Array): boolean {
    const split = piece.length > UNSPLIT_BYTES || this.#listening
    const now = split ? Math.max(1, piece.length - HELD_BYTES) : piece.length
    let room = false
    this.#res.cork(() => {
      room = this.#res.write(piece.subarray(0, now))
      if (room && now < piece.length) room = this.#res.write(piece.subarray(now))
      else if (!room) this.#wait(piece.subarray(now))
    })
    this.#sent += piece.length
    return room || this.#rest.length === 0
  }

  #wait(rest: Uint8Array): void {
    this.#rest = rest
    if (this.#listening || rest.length === 0) return
    this.#listening = true
    this.#res.onWritable(() => {
      this.#onRoom()
      return true
    })
  }

  #onRoom() {
    if (this.#over || this.#rest.length === 0) return
    if (this.#length === null) {
      const drained = this.#res.write(this.#rest.subarray(0, 1))
      this.#rest = this.#rest.subarray(1)
      if (!drained && this.#rest.length > 0) return
      if (drained && this.#rest.length > 0) this.#res.write(this.#rest)
      this.#rest = NOTHING
    } else {
      const rest = this.#rest
      this.#rest = NOTHING
      if (!this.#writeKnown(rest, this.#length)) return
    }
    watch.forget(this)
    while (!this.#over && this.#kept.length > 0) {
      const chunk = this.#kept.shift() as Buffer
      this.#keptBytes -= chunk.length
      keptOfAll -= chunk.length
      if (!this.#write(chunk)) return watch.add(this, chunk.length)
    }
    if (this.#ending) return this.end()
    const resume = this.#resume
    this.#resume = null
    resume?.()
  }

  #forget(): void {
    watch.forget(this)
    keptOfAll -= this.#keptBytes
    this.#keptBytes = 0
    this.#kept = []
  }

  #complete(): void {
    if (this.#over) return
    this.#over = true
    this.#forget()
    this.#head.onComplete(this.#head.bodiless ? 0 : this.#sent)
  }
}
