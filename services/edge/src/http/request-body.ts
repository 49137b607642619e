import { Readable } from 'node:stream'
import type { HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { Edge } from '../edge.js'
import type { WaitingBody } from '../proxy/waiting-bodies.js'
import { guarded } from './request-context.js'

/** Bytes of a body that are buffered for their reader before the client has to wait. */
const WAITING_BYTES = 256 * 1024

export interface TakenBody {
  readonly stream: Readable
  /**
   * Reads and drops the rest. Must be called before the response ends: a paused connection could not be resumed afterwards, and
   * would never read its next request.
   */
  release(): void
}

/**
 * Returns the body of a request as a stream, while it arrives; a slow reader slows the client down. `onTooLarge` is called
 * at the first byte beyond `maxBytes`; `isOver` returns true if the rest is not needed. Must be called before the handler returns.
 */
export function takeBody(
  edge: Edge,
  res: HttpResponse,
  maxBytes: number,
  isOver: () => boolean,
  onTooLarge: () => void,
): TakenBody {
  let wanted = true
  let paused = false
  let received = 0
  const body = new Readable({
    highWaterMark: WAITING_BYTES,
    read() {
      if (!paused || isOver()) return
      paused = false
      res.resume()
    },
  })
  // The reader learns of an error by the destruction of the stream.
  body.on('error', () => {})
  const take = (chunk: ArrayBuffer, isLast: boolean) => {
    if (!wanted) return
    received += chunk.byteLength
    if (received > maxBytes) return onTooLarge()
    if (body.destroyed) return
    // The memory of the chunk is valid only during this call.
    const full = chunk.byteLength > 0 && !body.push(Buffer.from(chunk.slice(0)))
    if (isLast) body.push(null)
    else if (full && !paused) {
      paused = true
      res.pause()
    }
  }
  res.onData((chunk, isLast) => guarded(edge, () => take(chunk, isLast)))
  const release = () => {
    wanted = false
    if (!paused || isOver()) return
    paused = false
    res.resume()
  }
  return { stream: body, release }
}

/** The outcome of collecting a body: one of these is called, once. */
export interface CollectingEvents {
  whole(body: Buffer): void
  tooLarge(): void
  /** See `WaitingBody`. */
  tooSlow(): void
}

/** Collects the body of a request in memory as it arrives. Must be created before the handler returns; `events` are called later. */
export class CollectedBody implements WaitingBody {
  readonly #edge: Edge
  readonly #res: HttpResponse
  readonly #events: CollectingEvents
  #chunks: Buffer[] = []
  #bytes = 0
  #over = false

  constructor(edge: Edge, res: HttpResponse, maxBytes: number, events: CollectingEvents) {
    this.#edge = edge
    this.#res = res
    this.#events = events
    res.onData((chunk, isLast) => guarded(edge, () => this.#take(chunk, isLast, maxBytes)))
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Counts the body among the waiting ones from now on, because it will take a while. */
  wait(): void {
    if (!this.#over) this.#edge.upstream.waiting.add(this)
  }

  /** Drops the body; the rest is read and dropped. */
  release(): void {
    this.#over = true
    this.#edge.upstream.waiting.forget(this)
    this.#chunks = []
  }

  keepWaiting(): void {
    // Resets the time-out of the server.
    if (!this.#over) this.#res.resume()
  }

  giveWay(): void {
    guarded(this.#edge, () => this.#end(() => this.#events.tooSlow()))
  }

  #take(chunk: ArrayBuffer, isLast: boolean, maxBytes: number) {
    if (this.#over) return
    if (this.#bytes + chunk.byteLength > maxBytes) return this.#end(() => this.#events.tooLarge())
    // The memory of the chunk is valid only during this call.
    if (chunk.byteLength > 0) this.#chunks.push(Buffer.from(chunk.slice(0)))
    this.#bytes += chunk.byteLength
    if (!isLast) return this.#edge.upstream.waiting.grown(this, chunk.byteLength)
    const whole = Buffer.concat(this.#chunks)
    this.#end(() => this.#events.whole(whole))
  }

  #end(notify: () => void): void {
    if (this.#over) return
    this.release()
    notify()
  }
}
