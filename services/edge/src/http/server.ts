import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js'
import { App, us_listen_socket_close } from 'uWebSockets.js'
import { reachableHost } from '@gateway/settings/load.js'
import type { Edge } from '../edge.js'
import { bareHost } from '../supervisor/bare-host.js'
import { onVectorByPath, onVectorDownload } from './downloads.js'
import { active, Exchange, guarded } from './exchange.js'
import { PREFLIGHT } from './header-block.js'
import { onTile } from './hot-tile.js'
import { onOther } from './passthrough.js'
import { onHealth, onMetrics, onReady } from './probes.js'
import { answerRefusal, REFUSALS_WITHOUT_JAVASCRIPT, TOO_LONG, WRONG_METHOD } from './refusals.js'
import { onTileSlow } from './tiles.js'
import { hasUnsent } from './unsent.js'

/** Limit: path and query of the edge's own addresses. A relative path may be long; what is longer than this is no address of ours. */
const MAX_ADDRESS = 8_192
/** How long a draining server stays for connections that are idle: their next request still gets its answer. */
const QUIET_MS = 150
const LOOK_AGAIN_MS = 20

type Handler = (edge: Edge, res: HttpResponse, req: HttpRequest) => void

export interface HttpServer {
  /** Takes no new connections, answers what is under way, at most for `seconds`. */
  drain(seconds: number): Promise<void>
}

/** Listens, with SO_REUSEPORT, so that the other processes of this edge share the port. Rejects where that is not possible. */
export function startServer(edge: Edge, host: string, port: number): Promise<HttpServer> {
  const app = App()
  const own = (pattern: string, get: Handler, head: Handler = get): void => {
    const checked = (handler: Handler) =>
      safely(edge, (_, res, req) => {
        if (isTooLong(req)) return refuseAtOnce(edge, res, req, TOO_LONG)
        handler(edge, res, req)
      })
    app.get(pattern, checked(get)).head(pattern, checked(head))
    app.options(pattern, safely(edge, onPreflight))
    app.any(
      pattern,
      safely(edge, (_, res, req) => refuseAtOnce(edge, res, req, WRONG_METHOD)),
    )
  }
  own('/tiles/*', onTile, (e, res, req) => {
    e.counters.requests++
    onTileSlow(e, res, req)
  })
  own('/geojson/*', (e, res, req) => onVectorByPath(e, 'geojson', '/geojson/', res, req))
  own('/shp/*', (e, res, req) => onVectorByPath(e, 'shapefile', '/shp/', res, req))
  own('/vectors/:code/download', onVectorDownload)
  own('/health', onHealth)
  own('/ready', onReady)
  own('/metrics', onMetrics)
  edge.sender.selfTestRoute(app)
  app.any('/*', safely(edge, onOther))
  return new Promise((resolve, reject) => {
    app.listen(host, port, (listening) => {
      if (listening === false) return reject(new Error(`cannot listen on ${host}:${port}`))
      // Until its self-test has passed, the sender copies: requests need not wait for it.
      void edge.sender
        .attach({ host: bareHost(reachableHost(host)), port })
        .then(() => edge.nativeHot.open(edge.sender, edge.hotTiles, edge.disks, REFUSALS_WITHOUT_JAVASCRIPT))
      resolve({ drain: (seconds) => drain(edge, listening, port, seconds) })
    })
  })
}

/** A throw in a handler would end the process. Where nothing was answered yet, the connection is cut: the caller sees a failure at once. */
function safely(edge: Edge, handler: Handler) {
  return (res: HttpResponse, req: HttpRequest): void => {
    try {
      handler(edge, res, req)
    } catch (error) {
      edge.log.error({ err: error }, 'a request handler failed')
      edge.counters.serverErrors++
      guarded(edge, () => void res.close())
    }
  }
}

function isTooLong(req: HttpRequest): boolean {
  return req.getUrl().length > MAX_ADDRESS || (req.getQuery()?.length ?? 0) > MAX_ADDRESS
}

function refuseAtOnce(edge: Edge, res: HttpResponse, req: HttpRequest, refusal: typeof TOO_LONG): void {
  edge.counters.requests++
  answerRefusal(new Exchange(edge, null, res, req), refusal)
}

function onPreflight(edge: Edge, res: HttpResponse, req: HttpRequest): void {
  edge.counters.requests++
  new Exchange(edge, null, res, req).answerEmpty('204 No Content', PREFLIGHT)
}

async function drain(edge: Edge, listening: us_listen_socket, port: number, seconds: number): Promise<void> {
  edge.draining = true
  edge.nativeHot.close()
  const hasNativeAnswers = edge.nativeHot.answers > 0
  us_listen_socket_close(listening)
  const deadline = Date.now() + seconds * 1000
  let quietSince = Date.now()
  while (Date.now() < deadline) {
    if (active.size > 0 || (hasNativeAnswers && hasUnsent(port))) quietSince = Date.now()
    else if (Date.now() - quietSince >= QUIET_MS) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
  edge.log.warn({ unfinished: active.size }, 'the time to drain is over; open requests are cut')
}
