import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Refusal } from '@gateway/contracts/errors.js'
import { readTlsPair, type TlsPair } from '@gateway/core/settings/tls-pair.js'
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from '@gateway/native-edge/uws/uws.js'
import { App, SSLApp, us_listen_socket_close, us_socket_local_port } from '@gateway/native-edge/uws/uws.js'
import { PREFLIGHT } from '../answers/header-block.js'
import type { Edge } from '../edge.js'
import type { CatalogVersion } from '../sync/catalog.js'
import { CertificateWatch } from './certificate-watch.js'
import { drain, giveNotice, type Listener } from './drain.js'
import { FORWARD_AUTH_PATH, onForwardAuth } from './forward-auth.js'
import { outsideZooms } from './missing-reasons.js'
import { onHealth, onMetrics, onReady } from './probes.js'
import { PROTOCOLS, routeOf } from './protocols.js'
import { onOther } from './proxy.js'
import { answerRefusal, fixed, NOT_FOUND, refusalsWithoutJavaScript, TOO_LONG, WRONG_METHOD } from './refusals.js'
import { type Handler, RequestContext, safely } from './request-context.js'
import { asDelivered, isDownload } from './token-path.js'

/**
 * Address on which a server that does not listen yet is tested. It has its own port, so that no other process of this edge
 * answers.
 */
const PROVING_HOST = '127.0.0.1'

export interface HttpServer {
  /** Listens, with SO_REUSEPORT, so that the other processes of this edge share the port. Rejects if that fails. */
  listen(host: string, port: number): Promise<void>
  /** Makes `/ready` return 503, and every response the last of its connection; connections are still accepted. */
  giveNotice(): void
  /** Accepts no new connections, waits at most `seconds` for requests in progress, and closes the rest. */
  drain(seconds: number): Promise<void>
}

/**
 * Prepares a server that has found the fastest way to send files, and may listen. Throws SettingsRefusal for an invalid TLS
 * pair.
 */
export async function prepareServer(edge: Edge): Promise<HttpServer> {
  const pair = readTlsPair(edge.settings)
  const app = appFor(edge, pair)
  const proving = await listenOn(app, PROVING_HOST, 0)
  const isEncrypted = pair !== null
  await edge.sender.attach({ host: PROVING_HOST, port: us_socket_local_port(proving), isEncrypted })
  us_listen_socket_close(proving)
  const refusals = refusalsWithoutJavaScript(edge.settings.missingTileTtlSeconds)
  const beyondZooms = (version: CatalogVersion) => fixed(outsideZooms(version).forms.error)
  edge.hotTiles.open({ sender: edge.sender, disks: edge.disks, refusals, beyondZooms })
  const apps = [app]
  let listener: Listener | null = null
  let watch: CertificateWatch | null = null
  return {
    async listen(host, port) {
      listener = { socket: await listenOn(app, host, port), port }
      if (pair === null) return
      watch = new CertificateWatch(edge.settings, pair, edge.log, async (next) => {
        const app = appFor(edge, next)
        const socket = await listenOn(app, host, port)
        edge.sender.attachAlso(port)
        apps.push(app)
        // Directly after the poll, in which all waiting connections were accepted: they continue with the certificate that they
        // have seen.
        await nextTurn()
        us_listen_socket_close((listener as Listener).socket)
        listener = { socket, port }
      })
    },
    giveNotice: () => giveNotice(edge),
    async drain(seconds) {
      giveNotice(edge)
      await watch?.stop()
      if (listener !== null) await drain(edge, listener, seconds)
      for (const app of apps) app.close()
    },
  }
}

/** Returns an App with the routes of the edge, over TLS if there is a pair. */
function appFor(edge: Edge, pair: TlsPair | null): TemplatedApp {
  const app = pair === null ? App() : SSLApp({ cert_file_name: pair.certFile, key_file_name: pair.keyFile })
  const refusing =
    (refusal: Refusal): Handler =>
    (_, res, req) =>
      refuseAtOnce(edge, res, req, refusal)
  const own = (pattern: string, handler: Handler, read = (req: HttpRequest) => req): void => {
    OWN_ROUTES.add(pattern)
    const handled = (one: Handler, refuseLong?: Handler) => {
      const handle = safely(edge, one, refuseLong)
      return (res: HttpResponse, req: HttpRequest) => handle(res, read(req))
    }
    app.get(pattern, handled(handler, refusing(TOO_LONG)))
    app.head(pattern, handled(handler, refusing(TOO_LONG)))
    app.options(pattern, handled(onPreflight))
    app.any(pattern, handled(refusing(WRONG_METHOD)))
  }
  for (const { pattern, handler } of Object.values(PROTOCOLS).flat()) if (handler !== null) own(pattern, handler)
  own('/t/*', onDownload, asDelivered)
  own(FORWARD_AUTH_PATH, onForwardAuth)
  own(`${FORWARD_AUTH_PATH}/*`, onForwardAuth)
  own('/health', onHealth)
  own('/ready', onReady)
  own('/metrics', onMetrics)
  edge.sender.selfTestRoute(app)
  app.any('/*', safely(edge, onOther))
  return app
}

/** Handles a download whose token was in the path. */
function onDownload(edge: Edge, res: HttpResponse, req: HttpRequest) {
  const handler = isDownload(req.getUrl()) ? routeOf(req.getUrl())?.handler : undefined
  if (handler) handler(edge, res, req)
  else refuseAtOnce(edge, res, req, NOT_FOUND)
}

/** Patterns of the addresses that an edge serves itself: a test requests each of them with a large catalog. */
export const OWN_ROUTES = new Set<string>()

function listenOn(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    app.listen(host, port, (listening) => {
      if (listening === false) reject(new Error(`cannot listen on ${host}:${port}`))
      else resolve(listening)
    })
  })
}

function refuseAtOnce(edge: Edge, res: HttpResponse, req: HttpRequest, refusal: Refusal): void {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'other', res, req)
  if (/^\/arcgis\//i.test(exchange.path)) exchange.errorForm = 'esri'
  answerRefusal(exchange, refusal)
}

function onPreflight(edge: Edge, res: HttpResponse, req: HttpRequest): void {
  edge.counters.requests++
  new RequestContext(edge, 'other', res, req).answerEmpty('204 No Content', PREFLIGHT)
}
