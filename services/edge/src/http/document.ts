import { presentedToken } from '@gateway/core/access/presented-token.js'
import type { FilePart } from '@gateway/tilesets/source.js'
import { CORS, type Header, type HeaderBlock, headerBlock, SERVER_MARK } from '../answers/header-block.js'
import { type DocumentRequest, SECRET_PLACE } from '../documents/document-cache.js'
import type { HeldDocument } from '../documents/held-document.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { answerCondition } from './answer-condition.js'
import { answerRefusal, INTERNAL } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'

export { SECRET_PLACE }

export type Document = Omit<DocumentRequest, 'inserted' | 'gzip' | 'tokenId'> & {
  readonly contentType: string
  /** See `DocumentRequest`; default: empty. */
  readonly inserted?: string
}

/** Sends a document that is made once for all requests: 200, or 304 to clients that have it; 429 if too many other documents are being made. */
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
  // Only the tag decides, since a document has no date.
  const current = { etag: found.etag, modifiedMs: Number.POSITIVE_INFINITY }
  if (answerCondition(exchange, current, () => ofNotModified)) return
  const body = found.forAnswer()
  offerNatively(exchange, headers, body)
  if (body instanceof Uint8Array) exchange.answer('200 OK', headers, body)
  else exchange.answerPart('200 OK', headers, body)
}

/**
 * Lets the native tier send the same document to the same request from now on. Only a request that is answered synchronously is still known in its
 * original form.
 */
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
  /** Without Content-Encoding: the client's copy may have another one. */
  readonly ofNotModified: HeaderBlock
}

const heads = new WeakMap<HeldDocument, Heads>()

function headersOf(found: HeldDocument, contentType: string): Heads {
  const known = heads.get(found)
  if (known !== undefined) return known
  const common: readonly Header[] = [
    ['Cache-Control', 'no-store'],
    // Weak, because the plain and the compressed document have the same tag.
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
