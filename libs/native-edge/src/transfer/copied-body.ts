import { read } from 'node:fs'
import { type BufferPool, CHUNK_BYTES } from './buffer-pool.js'
import type { StallWatch } from './stall-watch.js'
import type { Job, Outcome } from './types.js'

/**
 * A body that is read into memory and handed to uWebSockets.js in chunks, with its backpressure. Reads are asynchronous. A chunk
 * that the client does not take is discarded and read again later, so that a slow client costs no memory.
 */
export class CopiedBody {
  readonly #job: Job
  readonly #pool: BufferPool
  readonly #watch: StallWatch
  #sent = 0
  #ended: Outcome | undefined
  #reading = false
  #progressAt = performance.now()

  constructor(job: Job, pool: BufferPool, watch: StallWatch) {
    this.#job = job
    this.#pool = pool
    this.#watch = watch
  }

  start(): void {
    this.#job.res.onAborted(() => this.#end('aborted'))
    // The handler may return without a write: the read that follows ends in a write.
    this.#job.res.onWritable(() => {
      this.keepWaiting()
      return true
    })
    this.#next()
  }

  keepWaiting(): void {
    this.#watch.forget(this)
    this.#next()
  }

  stalled(): void {
    this.#close('stalled')
  }

  /**
   * Reads and offers the next chunk. A writable event may arrive while a read is in progress, so only one read runs at a time.
   */
  #next(): void {
    if (this.#ended !== undefined || this.#reading) return
    this.#reading = true
    this.#pool.take((buffer) => {
      const { fd, offset, length } = this.#job
      read(fd, buffer, 0, Math.min(CHUNK_BYTES, length - this.#sent), offset + this.#sent, (error, bytes) => {
        this.#reading = false
        if (this.#ended !== undefined) this.#job.settle(this.#ended, this.#sent)
        else if (error || bytes === 0) this.#close('truncated')
        else this.#offer(buffer.subarray(0, bytes))
        this.#pool.giveBack(buffer)
      })
    })
  }

  /** Hands the next bytes of the body to uWebSockets.js, which accepts all, some or none of them. */
  #offer(chunk: Uint8Array): void {
    const { res, length } = this.#job
    const before = this.#sent
    let [all, complete] = [false, false]
    try {
      res.cork(() => {
        ;[all, complete] = res.tryEnd(chunk, length)
        this.#sent = complete ? length : res.getWriteOffset()
      })
    } catch {
      this.#end('aborted') // the response is gone
    }
    if (this.#ended !== undefined) return
    if (this.#sent > before) this.#progressAt = performance.now()
    if (complete) this.#end('sent')
    else if (all) this.#next()
    else this.#watch.add(this, 0, this.#progressAt)
  }

  #close(outcome: Outcome): void {
    this.#end(outcome)
    try {
      this.#job.res.close()
    } catch {
      // closed already
    }
  }

  #end(outcome: Outcome): void {
    if (this.#ended !== undefined) return
    this.#ended = outcome
    this.#watch.forget(this)
    // The caller closes the descriptor in `settle`, so `settle` must wait until no thread reads from it.
    if (!this.#reading) this.#job.settle(outcome, this.#sent)
  }
}
