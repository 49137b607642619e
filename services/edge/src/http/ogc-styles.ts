import { isGranted } from '@gateway/core/access/decide.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment } from '@gateway/tilesets/address.js'
import { grantKey } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import { STYLE_TYPE, STYLES_PATH, styleMetadata, stylesPieces } from '../standards/styles-documents.js'
import { ANY_TOKEN, type Ask } from './authorize.js'
import { answerDocument } from './document.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { RequestContext } from './request-context.js'
import { answerOf, type Reader, unknownParameter, withReader } from './standards.js'
import { answerStyle, NO_SUCH_STYLE, wantedStyle } from './styles.js'

const JSON_TYPE = 'application/json'

/** Handles GET and HEAD of `/ogc/styles`, `/ogc/styles/{code}` and its `/metadata`. */
export function onOgcStyles(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'catalog', res, req)
  const { code, rest } = styleAddress(exchange.path)
  withReader(exchange, askOgcStyles(edge, exchange.path), (reader) => {
    const [room, ...more] = rest
    if (more.length > 0 || (room !== undefined && room !== 'metadata')) return answerRefusal(exchange, NOT_FOUND)
    const unknown = unknownParameter(exchange.query)
    if (unknown !== null) return answerRefusal(exchange, unknown)
    if (code === '') return answerStyles(exchange, reader)
    const style = edge.freshness.catalog.styles.get(code)
    if (!style?.served) return answerRefusal(exchange, NO_SUCH_STYLE)
    if (room === undefined) return answerStyle(exchange, style, reader.inserted !== '', STYLE_TYPE)
    answerOf(exchange, reader, style, JSON_TYPE, `ogc ${room}`, () =>
      JSON.stringify(styleMetadata(style, reader.addresses, showsPictures(edge, reader))),
    )
  })
}

function styleAddress(path: string) {
  const below = path.replace(/\/$/, '').slice(`${STYLES_PATH}/`.length)
  const [code = '', ...rest] = below.split('/').map((segment) => decodedSegment(segment) ?? '')
  return { code, rest }
}

export function askOgcStyles(edge: Edge, path: string): Ask {
  const { code } = styleAddress(path)
  return code === '' ? ANY_TOKEN : { wanted: wantedStyle(edge, code), signable: null, reach: 'cut' }
}

/** False for a token with an area too, whose static maps lie within it. */
function showsPictures(edge: Edge, { area }: Reader): boolean {
  return edge.pictures.available && area === null
}

function answerStyles(exchange: RequestContext, reader: Reader): void {
  const { token, addresses, inserted } = reader
  const hasPictures = showsPictures(exchange.edge, reader)
  const { styles } = exchange.edge.freshness.catalog
  const readable = () => [...styles.values()].filter((style) => style.served && isGranted(token, style.wanted))
  answerDocument(exchange, {
    of: styles,
    key: `ogc styles ${inserted === '' ? '' : 'token'} ${hasPictures} ${grantKey(token.basemaps)} ${grantKey(token.vectors)}`,
    grows: true,
    contentType: JSON_TYPE,
    inserted,
    text: () => stylesPieces(readable().sort(byCode), addresses, hasPictures),
  })
}

type Coded = { readonly stored: { readonly code: string } }

function byCode({ stored: a }: Coded, { stored: b }: Coded): number {
  return a.code < b.code ? -1 : 1
}
