import { presentedToken } from '@gateway/core/access/presented-token.js'
import type { FilePart } from '@gateway/tilesets/source.js'
import { type DocumentRequest, SECRET_PLACE } from '../documents/document-cache.js'
import type { HeldDocument } from '../documents/held-document.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { answerCondition } from './condition.js'
import { CORS, type Header, type HeaderBlock, headerBlock, SERVER_MARK } from './header-block.js'
import { answerRefusal, INTERNAL } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'

export { SECRET_PLACE }

export type Document = Omit<DocumentRequest, 'inserted' | 'gzip' | 'tokenId'> & {
  readonly contentType: string
  /** see `DocumentRequest`; default: nothing */
  readonly inserted?: string
}

/** Answers with a document that many may ask for, made once: 200, or 304 to those who have it; 429 where too many others are being made. */
export function answerDocument(exchange: RequestContext, document: Document): void {
  const { edge } = exchange
  const { of, key, grows, text, inserted } = document
  const request: DocumentRequest = {
    of,
    key,
    grows,
    text,
    inserted: inserted ?? '',
    gzip: acceptsGzip(exchange.header('accept-encoding')),
    tokenId: exchange.token ?? '',
  }
  edge.documents.get(request, (found) =>
    guarded(edge, () => {
      if (exchange.aborted) return
      if (found instanceof Error) {
        edge.log.error({ err: found, path: exchange.path }, 'a document could not be made')
        answerRefusal(exchange, INTERNAL)
      } else if ('ok' in found) answerRefusal(exchange, found)
      else send(exchange, found, headersOf(found, document.contentType))
    }),
  )
}

function send(exchange: RequestContext, found: HeldDocument, { headers, ofNotModified }: Heads): void {
  // The tag alone decides: a document has no date.
  const current = { etag: found.etag, modifiedMs: Number.POSITIVE_INFINITY }
  if (answerCondition(exchange, current, () => ofNotModified)) return
  const body = found.forAnswer()
  offerNatively(exchange, headers, body)
  if (body instanceof Uint8Array) exchange.answer('200 OK', headers, body)
  else exchange.answerPart('200 OK', headers, body)
}

/** The same request gets the same document without JavaScript from now on. Only a request that was answered at once is still known in its original form. */
export function offerNatively(exchange: RequestContext, headers: HeaderBlock, body: FilePart | Uint8Array): void {
  const { edge, kind, asked } = exchange
  if (!exchange.isCurrent) return
  const request = edge.native.requestHead
  const presented = presentedToken({
    authorization: exchange.header('authorization'),
    xAccessToken: exchange.header('x-access-token'),
    query: exchange.query,
  })
  if (request === '' || !presented.ok) return
  edge.native.offerDocument({
    request,
    token: presented.token,
    isOfCatalog: kind === 'catalog',
    usage: asked ?? '',
    headers: [[headers.name, headers.value], SERVER_MARK],
    body,
  })
}

interface Heads {
  readonly headers: HeaderBlock
  /** without an encoding: what the client has may be of another one */
  readonly ofNotModified: HeaderBlock
}

const heads = new WeakMap<HeldDocument, Heads>()

function headersOf(found: HeldDocument, contentType: string): Heads {
  const known = heads.get(found)
  if (known !== undefined) return known
  const common: readonly Header[] = [
    ['Cache-Control', 'no-store'],
    // Weak: the plain and the compressed document carry the same.
    ['ETag', `W/${found.etag}`],
    ['Vary', 'Accept-Encoding'],
    ...CORS,
  ]
  const ofNotModified = headerBlock(['Content-Type', contentType], ...common)
  const headers = found.isGzip
    ? headerBlock(['Content-Type', contentType], ['Content-Encoding', 'gzip'], ...common)
    : ofNotModified
  const made = { headers, ofNotModified }
  heads.set(found, made)
  return made
}
