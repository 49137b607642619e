import { readSync } from 'node:fs'
import type { BufferPool } from './buffer-pool.js'
import { CopiedBody } from './copied-body.js'
import type { StallWatch } from './stall-watch.js'
import type { Job, Tier } from './types.js'

/**
 * Bodies up to this size are read synchronously, although uncached ones block the event loop. A pipelined request behind an
 * incomplete response makes uWebSockets.js close the connection, and a small body completes immediately.
 */
const READ_AT_ONCE_BYTES = 64 * 1024

/** Reads files into memory and writes them from there. Works on every platform. */
export class CopyTier implements Tier {
  readonly name = 'copy'
  readonly #pool: BufferPool
  readonly #watch: StallWatch

  constructor(pool: BufferPool, watch: StallWatch) {
    this.#pool = pool
    this.#watch = watch
  }

  send(job: Job): void {
    if (job.length > READ_AT_ONCE_BYTES) new CopiedBody(job, this.#pool, this.#watch).start()
    else sendAtOnce(job)
  }
}

function sendAtOnce(job: Job): void {
  const body = readWhole(job)
  if (body) {
    job.res.end(body)
    job.settle('sent', job.length)
  } else {
    job.res.close()
    job.settle('truncated', 0)
  }
}

function readWhole({ fd, offset, length }: Job): Buffer | undefined {
  const body = Buffer.allocUnsafe(length)
  try {
    for (let at = 0; at < length; ) {
      const bytes = readSync(fd, body, at, length - at, offset + at)
      if (bytes === 0) return undefined
      at += bytes
    }
    return body
  } catch {
    return undefined
  }
}
