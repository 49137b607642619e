import { CHUNK_BYTES } from './open-source.js'

/** Held ready for a slow consumer at most, as far as the producer asks for room. */
const MAX_AHEAD_BYTES = 1024 * 1024

/**
 * Between a producer that writes many small pieces at once and a consumer that takes its time: pieces are gathered into even blocks. `add`
 * never refuses; a producer that can wait does so with `room`.
 */
export class BlockQueue {
  readonly #blocks: Buffer[] = []
  #open = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  #filled = 0
  #state: 'flowing' | 'ended' | 'closed' = 'flowing'
  #error: unknown = null
  #wakeConsumer: () => void = () => {}
  #wakeProducer: () => void = () => {}

  add(piece: Buffer): void {
    for (let offset = 0; offset < piece.length; ) {
      const copied = piece.copy(this.#open, this.#filled, offset)
      offset += copied
      this.#filled += copied
      if (this.#filled < CHUNK_BYTES) return
      this.#blocks.push(this.#open)
      this.#open = Buffer.allocUnsafeSlow(CHUNK_BYTES)
      this.#filled = 0
      this.#wakeConsumer()
    }
  }

  /** Nothing follows; with an error, the consumer gets it once it has taken what came before. */
  end(error: unknown = null): void {
    if (this.#state !== 'flowing') return
    this.#state = 'ended'
    this.#error = error
    this.#wakeConsumer()
  }

  /** Nobody consumes any more: the producer's next `room` throws. */
  close(): void {
    this.#state = 'closed'
    this.#wakeProducer()
  }

  async room(): Promise<void> {
    while (this.#state !== 'closed' && this.#blocks.length * CHUNK_BYTES > MAX_AHEAD_BYTES) {
      await new Promise<void>((resolve) => {
        this.#wakeProducer = resolve
      })
    }
    if (this.#state === 'closed') throw new Error('nobody wants the rest')
  }

  /** The next block; null: that was all. */
  async take(): Promise<Buffer | null> {
    while (this.#blocks.length === 0 && this.#state === 'flowing') {
      await new Promise<void>((resolve) => {
        this.#wakeConsumer = resolve
      })
    }
    const block = this.#blocks.shift()
    if (block !== undefined) {
      this.#wakeProducer()
      return block
    }
    if (this.#error !== null) throw this.#error
    const rest = this.#filled
    this.#filled = 0
    return rest === 0 ? null : this.#open.subarray(0, rest)
  }
}
