import fs from 'node:fs'
import type { BodySink, SendOutcome } from './body-sink.js'
import { StallWatch } from './stall-watch.js'

/** The way in which file bytes reach sockets, as `/metrics` names it. */
export const FILE_TIER = 'copy'

/**
 * One read and one write. More would not be faster; less costs system calls. More than the HTTP server's 16 KB cork buffer, so that a
 * piece goes to the socket without another copy.
 */
const PIECE_BYTES = 256 * 1024
/** Buffers kept for the next reads: reads under way at the same time, four for each thread of the pool. */
const SPARE_BUFFERS = 16

const spareBuffers: Buffer[] = []
const watch = new StallWatch()
let open = 0

/** Bodies that are being sent right now. */
export function openTransfers(): number {
  return open
}

/**
 * Sends `length` bytes of an open file, from `offset`, as the body of an answer whose header is written. `onDone` is called once, and
 * not before this returns; until then the descriptor must stay open. Memory is one buffer while bytes move, and none while the reader is slow.
 */
export function sendRange(
  sink: BodySink,
  fd: number,
  offset: number,
  length: number,
  onDone: (outcome: SendOutcome) => void,
): void {
  open++
  new CopyTransfer(sink, fd, offset, length, (outcome) => {
    open--
    onDone(outcome)
  }).pump()
}

class CopyTransfer {
  readonly #sink: BodySink
  readonly #fd: number
  readonly #offset: number
  readonly #length: number
  readonly #onDone: (outcome: SendOutcome) => void
  #reading = false
  #finished = false
  #takenSinceFull = 0
  #sent = 0

  constructor(sink: BodySink, fd: number, offset: number, length: number, onDone: (outcome: SendOutcome) => void) {
    this.#sink = sink
    this.#fd = fd
    this.#offset = offset
    this.#length = length
    this.#onDone = onDone
    sink.onAbort(() => this.#finish('aborted'))
    sink.onWritable(() => {
      watch.forget(this)
      this.#takenSinceFull = 0
      this.pump()
    })
  }

  /** Reads the next piece, in a thread of the pool, and offers it. */
  pump(): void {
    if (this.#reading || this.#finished) return
    this.#reading = true
    const buffer = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
    const wanted = Math.min(PIECE_BYTES, this.#length - this.#sent)
    fs.read(this.#fd, buffer, 0, wanted, this.#offset + this.#sent, (error, count) => {
      this.#reading = false
      if (this.#finished) this.#onDone('aborted')
      else if (error !== null || count === 0) this.#cut('truncated')
      else this.#offer(buffer.subarray(0, count))
      if (spareBuffers.length < SPARE_BUFFERS) spareBuffers.push(buffer)
    })
  }

  /** For the stall watch: the reader has the benefit of the doubt, or not. */
  keepWaiting(): void {
    this.#sink.keepWaiting()
  }

  stalled(): void {
    this.#cut('stalled')
  }

  #offer(piece: Buffer) {
    const answer = this.#sink.offer(piece, this.#length)
    if (answer === 'done') return this.#finish('sent')
    const sent = this.#sink.written()
    this.#takenSinceFull += sent - this.#sent
    this.#sent = sent
    if (answer === 'taken') this.pump()
    else watch.add(this, this.#takenSinceFull)
  }

  #cut(outcome: SendOutcome): void {
    this.#finish(outcome)
    this.#sink.cut()
  }

  /** While a read is under way its descriptor is in use: then the read's end is the end. */
  #finish(outcome: SendOutcome): void {
    if (this.#finished) return
    this.#finished = true
    watch.forget(this)
    if (!this.#reading) this.#onDone(outcome)
  }
}
