import { randomUUID } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import type { NativeTier } from '../transfer/native-tier.js'
import type { HttpApp, HttpRequest, HttpResponse } from '../transfer/types.js'

const PREFIX = '/.native-edge-self-test/'

/** The Node binary itself: a file that exists on every machine, is large (some 90 MB) and does not change. */
export const TEST_FILE = process.execPath

/**
 * The private path of the self-test. Its last part is random, so that clients cannot guess it. If several processes share the port,
 * each returns 404 for the paths of the others.
 */
export class SelfTestRoute {
  readonly path = `${PREFIX}${randomUUID()}`
  /** The tier under test; without one the path returns 404. */
  tier: NativeTier | undefined
  /** Result of the last probe request. */
  probed = false

  /** Registers the path. Must be called before any catch-all route of the App is registered. */
  register(app: HttpApp): void {
    app.get(`${PREFIX}*`, (res, req) => this.#answer(res, req))
  }

  #answer(res: HttpResponse, req: HttpRequest): void {
    const url = req.getUrl()
    if (!this.tier) notFound(res)
    else if (url === `${this.path}/own`) res.end()
    else if (url === `${this.path}/probe`) this.probed = this.tier.probe(res)
    else if (url === `${this.path}/file`) sendPart(this.tier, res, req.getQuery())
    else notFound(res)
  }
}

function notFound(res: HttpResponse): void {
  res.writeStatus('404 Not Found')
  res.writeHeader('Content-Type', 'application/json; charset=utf-8')
  res.writeHeader('Cache-Control', 'no-store')
  res.end('{"error":"Not found."}')
}

/** `query` is "offset-length". */
function sendPart(tier: NativeTier, res: HttpResponse, query: string): void {
  const [offset = 0, length = 1] = query.split('-').map(Number)
  const fd = openSync(TEST_FILE, 'r')
  res.writeStatus('200 OK')
  res.writeHeader('Content-Type', 'application/octet-stream')
  tier.send({ res, fd, offset, length, settle: () => closeSync(fd) })
}
