import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type us_listen_socket, us_listen_socket_close } from '@gateway/native-edge/uws/uws.js'
import type { Edge } from '../edge.js'
import { endEventStreams } from './proxy.js'
import { active } from './request-context.js'

/** Time in ms for which a drained server keeps idle connections, so that their next request is still answered. */
const QUIET_MS = 150
const LOOK_AGAIN_MS = 20

export interface Listener {
  readonly socket: us_listen_socket
  readonly port: number
}

/** The first step of a graceful end: `/ready` returns 503, and every response is the last of its connection. */
export function giveNotice(edge: Edge): void {
  edge.draining = true
  edge.native.close()
}

/** Closes a listener, and waits at most `seconds` for the requests in progress. DRAIN_SECONDS is the limit (`worker/start.ts`). */
export async function drain(edge: Edge, { socket, port }: Listener, seconds: number): Promise<void> {
  await edge.sender.acceptWaiting(port)
  us_listen_socket_close(socket)
  const deadline = performance.now() + seconds * 1000
  let quietSince = performance.now()
  while (performance.now() < deadline) {
    // Directly after the poll, so that arrived requests are known.
    await nextTurn()
    endEventStreams()
    if (active.size > 0 || edge.sender.hasUnsent()) quietSince = performance.now()
    else if (performance.now() - quietSince >= QUIET_MS) return
    await sleep(LOOK_AGAIN_MS)
  }
  edge.log.warn({ unfinished: active.size }, 'the drain timed out; open requests are cut')
}
