import type { BufferPool } from './buffer-pool.js'
import { CopiedBody } from './copied-body.js'
import { CorkView } from './cork-view.js'
import { type Foreign, openForeign } from './foreign.js'
import type { StallWatch } from './stall-watch.js'
import { type HttpResponse, type Job, NOTHING, type Outcome, type ProbedTier, type Tier } from './types.js'

/** Fairness: so much is sent for one connection before the event loop looks at the others. */
const QUOTA_BYTES = 1024 * 1024
/** A piece that fits uWebSockets.js's cork buffer may stay in its memory and leave after what sendfile sends next. */
const CORK_BUFFER_BYTES = 16 * 1024
/** What is copied through uWebSockets.js where sendfile would block; more than fits the cork buffer. */
const SLICE_BYTES = 64 * 1024
/** How densely it is asked whether a stretch is in memory; the kernel reads ahead in units of this order. */
const RESIDENCY_STRIDE = 256 * 1024

const slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
const oneByte = Buffer.allocUnsafeSlow(1)

/**
 * Tier 2: uWebSockets.js sends the head and the first slice, sendfile(2), called through koffi, the rest. There are no hooks, so
 * writable events come from uWebSockets.js: they are asked for by offering it a slice that does not fit.
 */
export class KoffiTier implements ProbedTier {
  readonly name = 'koffi'
  readonly #foreign: Foreign
  readonly #cork: CorkView
  readonly #pool: BufferPool
  readonly #watch: StallWatch
  /** For short bodies, and for responses that are not corked. */
  readonly #copying: Tier
  /** The port that the probe request comes from; set by the self-test. */
  probePort = 0

  private constructor(foreign: Foreign, cork: CorkView, pool: BufferPool, watch: StallWatch, copying: Tier) {
    this.#foreign = foreign
    this.#cork = cork
    this.#pool = pool
    this.#watch = watch
    this.#copying = copying
  }

  static attach(binary: string, port: number, pool: BufferPool, watch: StallWatch, copying: Tier): KoffiTier | string {
    const foreign = openForeign(binary)
    if (typeof foreign === 'string') return foreign
    const cork = CorkView.open(foreign, port)
    return typeof cork === 'string' ? cork : new KoffiTier(foreign, cork, pool, watch, copying)
  }

  detach(): void {
    // Nothing is hooked.
  }

  probe(res: HttpResponse): boolean {
    return this.#cork.probe(res, this.probePort)
  }

  send(job: Job): void {
    let descriptor = -1
    if (job.length > SLICE_BYTES) {
      this.#cork.mark()
      job.res.tryEnd(NOTHING, job.length)
      descriptor = this.#cork.descriptorSinceMark()
    }
    if (descriptor < 0) this.#copying.send(job)
    else new SentBody(job, this.#pool, this.#watch, this.#foreign, descriptor).start()
  }
}

class SentBody extends CopiedBody {
  readonly #foreign: Foreign
  readonly #socket: number
  #quota = QUOTA_BYTES
  /** uWebSockets.js cannot be holding bytes of this body back, so that sendfile may go on. */
  #nothingHeldBack = false

  constructor(job: Job, pool: BufferPool, watch: StallWatch, foreign: Foreign, socket: number) {
    super(job, pool, watch)
    this.#foreign = foreign
    this.#socket = socket
  }

  override poke(): void {
    this.#quota = QUOTA_BYTES
    super.poke()
  }

  /** A slice through uWebSockets.js: read here if it is in memory, by a thread if not. */
  protected override next(): void {
    if (this.ended) return
    const { fd, offset, length } = this.job
    const wanted = Math.min(SLICE_BYTES, length - this.sent)
    const bytes = this.#foreign.readWithoutWaiting(fd, slice, wanted, offset + this.sent)
    if (bytes === wanted) this.offer(slice.subarray(0, bytes))
    else super.next()
  }

  protected override offer(chunk: Uint8Array): void {
    this.#quota -= chunk.length
    this.#nothingHeldBack = chunk.length > CORK_BUFFER_BYTES
    super.offer(chunk)
  }

  protected override accepted(): void {
    const { fd, offset, length } = this.job
    while (this.sent < length && this.#quota > 0) {
      const stretch = Math.min(this.#quota, length - this.sent)
      if (!this.#nothingHeldBack || !this.#inMemory(stretch)) {
        super.next()
        return
      }
      const bytes = this.#foreign.sendfile(this.#socket, fd, offset + this.sent, stretch)
      if (bytes <= 0) {
        this.#notSent(bytes)
        return
      }
      this.sent += bytes
      this.#quota -= bytes
      this.progressAt = performance.now()
    }
    if (this.sent === length) this.#complete()
    else setImmediate(() => this.#nextTurn())
  }

  #notSent(result: number): void {
    if (result === this.#foreign.wouldBlock) this.next()
    else this.close(result === 0 ? 'truncated' : 'aborted')
  }

  #nextTurn(): void {
    this.#quota = QUOTA_BYTES
    if (!this.ended) this.accepted()
  }

  #inMemory(length: number): boolean {
    const { fd, offset } = this.job
    for (let at = 0; at < length; at += RESIDENCY_STRIDE) {
      if (this.#foreign.readWithoutWaiting(fd, oneByte, 1, offset + this.sent + at) === 0) return false
    }
    return true
  }

  /** With no byte missing of those that uWebSockets.js knows of, it takes the response for complete. */
  #complete(): void {
    const { res } = this.job
    let outcome: Outcome = 'sent'
    try {
      res.cork(() => res.tryEnd(NOTHING, res.getWriteOffset()))
    } catch {
      outcome = 'aborted' // the response is gone
    }
    this.end(outcome)
  }
}
