import type { HttpResponse } from 'uWebSockets.js'
import { Readable } from 'node:stream'
import type { Edge } from '../edge.js'
import { guarded } from './exchange.js'

/** Bytes of a body that wait for their reader before the client is made to wait. */
const WAITING_BYTES = 256 * 1024

export interface TakenBody {
  readonly stream: Readable
  /**
   * Nobody wants the rest: it is read and dropped. To be called before the response ends, since a connection that was made to wait could
   * not be let go on afterwards, and would never read its next request.
   */
  letGo(): void
}

/**
 * The body of a request as a stream, as it arrives; a reader that is slow slows the client down. `onTooLarge` is called at the first
 * byte beyond `maxBytes`; `isOver` says that nobody wants the rest. To be called before the handler returns.
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
  // Its reader is told by the destruction; nobody else needs to be.
  body.on('error', () => {})
  const take = (chunk: ArrayBuffer, isLast: boolean) => {
    if (!wanted) return
    received += chunk.byteLength
    if (received > maxBytes) return onTooLarge()
    if (body.destroyed) return
    // What the server hands over is only lent for the time of this call.
    const full = chunk.byteLength > 0 && !body.push(Buffer.from(chunk.slice(0)))
    if (isLast) body.push(null)
    else if (full && !paused) {
      paused = true
      res.pause()
    }
  }
  res.onData((chunk, isLast) => guarded(edge, () => take(chunk, isLast)))
  const letGo = () => {
    wanted = false
    if (!paused || isOver()) return
    paused = false
    res.resume()
  }
  return { stream: body, letGo }
}
