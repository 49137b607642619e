import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { WORTH_COMPRESSING } from '../catalog/answers.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { type Exchange, guarded } from './exchange.js'
import { CORS, type Header, type HeaderBlock, headerBlock } from './header-block.js'

const compress = promisify(gzip)

export interface DocumentHeaders {
  readonly plain: HeaderBlock
  readonly gzip: HeaderBlock
}

export function documentHeaders(contentType: string): DocumentHeaders {
  const type: Header = ['Content-Type', contentType]
  const common: readonly Header[] = [['Cache-Control', 'no-store'], ['Vary', 'Accept-Encoding'], ...CORS]
  return { plain: headerBlock(type, ...common), gzip: headerBlock(type, ['Content-Encoding', 'gzip'], ...common) }
}

/** Answers 200 with a document that is made for this request: compressed, beside the event loop, for those who accept it. */
export function answerDocument(exchange: Exchange, headers: DocumentHeaders, text: string): void {
  const body = Buffer.from(text)
  const plainly = () => exchange.answer('200 OK', headers.plain, body)
  const mayBePacked = body.length >= WORTH_COMPRESSING && acceptsGzip(exchange.header('accept-encoding'))
  if (!mayBePacked) plainly()
  else {
    compress(body).then(
      (packed) => guarded(exchange.edge, () => exchange.answer('200 OK', headers.gzip, packed)),
      () => guarded(exchange.edge, plainly),
    )
  }
}
