import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/** Where one content lies in a file. */
export interface Piece {
  readonly offset: number
  readonly length: number
}

/** Bytes gathered before they are written, so that small tiles do not cost a system call each. */
const BATCH_BYTES = 1024 * 1024

/** Appends to a file from a given position, in batches. */
export class Appender {
  readonly #file: FileHandle
  #position: number
  #batch: Uint8Array[] = []
  #batched = 0

  constructor(file: FileHandle, position: number) {
    this.#file = file
    this.#position = position
  }

  async append(data: Uint8Array): Promise<void> {
    this.#batch.push(data)
    this.#batched += data.length
    if (this.#batched >= BATCH_BYTES) await this.flush()
  }

  async flush(): Promise<void> {
    const batch = Buffer.concat(this.#batch)
    let written = 0
    while (written < batch.length) {
      const { bytesWritten } = await this.#file.write(batch, written, batch.length - written, this.#position + written)
      written += bytesWritten
    }
    this.#position += batch.length
    this.#batch = []
    this.#batched = 0
  }
}

/** Keeps each distinct content once, in the order of its first appearance. */
export class Spool {
  readonly #appender: Appender
  readonly #known = new Map<string, Piece>()
  #end = 0

  constructor(file: FileHandle) {
    this.#appender = new Appender(file, 0)
  }

  async add(data: Uint8Array): Promise<Piece> {
    const digest = createHash('sha256').update(data).digest('base64')
    const known = this.#known.get(digest)
    if (known !== undefined) return known
    const piece = { offset: this.#end, length: data.length }
    this.#known.set(digest, piece)
    this.#end += data.length
    // The caller may use its buffer again; what waits for a batch must not change.
    await this.#appender.append(Uint8Array.from(data))
    return piece
  }

  flush(): Promise<void> {
    return this.#appender.flush()
  }
}
