import { clientAddress, parseRanges, type Range } from '@gateway/core/access/client-address.js'
import { presentedToken, takesEsri, takesTk } from '@gateway/core/access/presented-token.js'
import { TOKEN_PREFIX_LENGTH } from '@gateway/core/access/token-format.js'
import {
  type AccessLine,
  type AccessLog,
  queryWithoutCredentials,
  withoutQuery,
} from '@gateway/core/logging/access-log.js'
import { parseTraceparent } from '@gateway/core/tracing/trace-context.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { NativePublisher } from '../native/publisher.js'
import { readField } from './request-fields.js'

/** Facts about a response that are known when its head has been written. */
type Given = Pick<AccessLine, 'kind' | 'status' | 'bytes' | 'ms'>

type Asked = Omit<AccessLine, keyof Given>

/**
 * Writes the access log: records the facts of a request before its handler runs, and writes a line when it is answered.
 */
export class Access {
  readonly #log: AccessLog
  readonly #native: NativePublisher
  readonly #trusted: readonly Range[]
  /** Requests whose response must be logged. The entry of an unanswered request disappears with its response. */
  readonly #asked = new WeakMap<HttpResponse, Asked>()

  constructor(log: AccessLog, native: NativePublisher, trustedProxies: readonly string[]) {
    this.#log = log
    this.#native = native
    this.#trusted = parseRanges(trustedProxies)
    // The native table writes no log, so it leaves the sampled requests to JavaScript.
    native.pickEvery(log.every)
  }

  begin(res: HttpResponse, req: HttpRequest): void {
    if (this.#native.picked ?? this.#log.takes()) this.#asked.set(res, this.#read(res, req))
  }

  answered(res: HttpResponse, answer: Given): void {
    const asked = this.#asked.get(res)
    if (asked === undefined) return
    const { kind, status, bytes, ms } = answer
    this.#log.write({ ...asked, kind, status, bytes, ms })
  }

  #read(res: HttpResponse, req: HttpRequest): Asked {
    const query = req.getQuery() ?? ''
    const presented = presentedToken({
      authorization: req.getHeader('authorization'),
      xAccessToken: req.getHeader('x-access-token'),
      esriAuthorization: takesEsri(req.getUrl()) ? req.getHeader('x-esri-authorization') : '',
      query,
      takesTk: takesTk(req.getUrl()),
    })
    return {
      method: req.getCaseSensitiveMethod(),
      path: req.getUrl(),
      query: queryWithoutCredentials(query),
      token: presented.ok ? presented.token.slice(0, TOKEN_PREFIX_LENGTH) : '',
      client: clientOf(res, req, this.#trusted),
      userAgent: req.getHeader('user-agent'),
      referer: withoutQuery(req.getHeader('referer')),
      traceId: parseTraceparent(req.getHeader('traceparent'))?.traceId ?? '',
      requestId: req.getHeader('x-request-id'),
    }
  }
}

/** Returns the client's address, considering the trusted proxies. Must be called before the request is answered. */
function clientOf(res: HttpResponse, req: HttpRequest, trusted: readonly Range[]): string {
  const peer = Buffer.from(res.getRemoteAddressAsText()).toString()
  // Some proxies add a second line after that of the client.
  return clientAddress(peer, { 'x-forwarded-for': readField(req, 'x-forwarded-for') }, trusted).address
}
