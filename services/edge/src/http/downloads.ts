import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import fs from 'node:fs'
import path from 'node:path'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { create as contentDisposition } from 'content-disposition'
import type { CatalogVector } from '../catalog/catalog.js'
import type { Edge } from '../edge.js'
import { parseByteRange } from '../files/byte-range.js'
import { httpDate, isNotModified, isRangeStillGood } from '../files/conditional.js'
import { authorize } from './authorize.js'
import { Exchange, guarded } from './exchange.js'
import { CORS, type HeaderBlock, headerBlock } from './header-block.js'
import { onOther } from './passthrough.js'
import { answerRefusal, INTERNAL, NOT_FOUND, UNDECODABLE } from './refusals.js'
import { decodedSegment } from './tile-path.js'
import { type Download, openVector } from './vector-file.js'

const VECTORS = '/vectors/'
const DOWNLOAD = '/download'

/** GET and HEAD of `/vectors/{code}/download`; other addresses below `/vectors/` are not the edge's. */
export function onVectorDownload(edge: Edge, res: HttpResponse, req: HttpRequest) {
  const url = req.getUrl()
  const inner = url.slice(VECTORS.length, -DOWNLOAD.length)
  if (!url.endsWith(DOWNLOAD) || inner === '' || inner.includes('/')) return onOther(edge, res, req)
  edge.counters.requests++
  const exchange = new Exchange(edge, 'download', res, req)
  const code = decodedSegment(inner)
  if (code === null) return authorize(exchange, null, () => answerRefusal(exchange, UNDECODABLE))
  const vector = edge.freshness.catalog.vectors.get(code)
  authorize(exchange, vector?.wanted ?? { kind: 'vector', names: [code] }, () => answerVector(exchange, vector))
}

/** GET and HEAD of the compatibility routes `/geojson/{relative_path}` and `/shp/{relative_path}`. */
export function onVectorByPath(edge: Edge, kind: VectorKind, prefix: string, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new Exchange(edge, 'download', res, req)
  const relativePath = decodedSegment(exchange.path.slice(prefix.length))
  if (relativePath === null) return authorize(exchange, null, () => answerRefusal(exchange, UNDECODABLE))
  const found = (edge.freshness.catalog.vectorsByPath.get(relativePath) ?? []).filter((v) => v.stored.kind === kind)
  // An address that names nothing is granted by whoever's token names it, so that 403 and 404 tell nothing apart.
  const wanted =
    found.length > 0
      ? found.map((vector) => vector.wanted)
      : { kind: 'vector' as const, names: [relativePath, path.posix.basename(relativePath)] }
  authorize(exchange, wanted, (_, which) => answerVector(exchange, found[which]))
}

function answerVector(exchange: Exchange, vector: CatalogVector | undefined) {
  if (vector === undefined || !vector.stored.available) return answerRefusal(exchange, NOT_FOUND)
  openVector(exchange, vector).then(
    (opened) =>
      guarded(exchange.edge, () => {
        if (opened.ok) answerDownload(exchange, opened)
        else answerRefusal(exchange, opened)
      }),
    (error) =>
      guarded(exchange.edge, () => {
        exchange.edge.log.error({ err: error, vector: vector.stored.code }, 'a vector cannot be read')
        answerRefusal(exchange, INTERNAL)
      }),
  )
}

function answerDownload(exchange: Exchange, download: Download) {
  const { fd, size, validators, remote } = download
  const release = (): void => fs.close(fd, () => {})
  if (exchange.aborted) return release()
  if (isNotModified(exchange.header('if-none-match'), exchange.header('if-modified-since'), validators)) {
    release()
    exchange.edge.counters.downloads++
    return exchange.answerEmpty('304 Not Modified', headerBlock(['ETag', validators.etag], ...common(download)))
  }
  const asked = exchange.header('range')
  // Range has a meaning for GET alone (RFC 9110, 14.2).
  const ranged = asked !== '' && !exchange.isHead && isRangeStillGood(exchange.header('if-range'), validators)
  const range = ranged ? parseByteRange(asked, size) : ({ kind: 'whole' } as const)
  if (range.kind === 'unsatisfiable') {
    release()
    return answerUnsatisfiable(exchange, size)
  }
  exchange.edge.counters.downloads++
  if (range.kind === 'whole') {
    return exchange.answerPart('200 OK', contentHeaders(download), { fd, offset: 0, length: size, remote, release })
  }
  const headers = contentHeaders(download, ['Content-Range', `bytes ${range.first}-${range.last}/${size}`])
  const length = range.last - range.first + 1
  exchange.answerPart('206 Partial Content', headers, { fd, offset: range.first, length, remote, release })
}

function answerUnsatisfiable(exchange: Exchange, size: number): void {
  const headers = headerBlock(
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Cache-Control', 'no-store'],
    ['Content-Range', `bytes */${size}`],
    ...CORS,
  )
  exchange.answer('416 Range Not Satisfiable', headers, JSON.stringify({ error: 'the file has no such range' }))
}

/** Always quoted (RFC 6266 allows either form): scripts that take the name out by a pattern expect the quotes. */
function disposition(fileName: string): string {
  return contentDisposition(fileName).replace(/filename=([^";]+)/, 'filename="$1"')
}

function contentHeaders(download: Download, ...more: [string, string][]): HeaderBlock {
  return headerBlock(
    ['Content-Type', download.type],
    ['ETag', download.validators.etag],
    ['Content-Disposition', disposition(download.fileName)],
    ...more,
    ...common(download),
  )
}

/** Each use is asked for anew: the file may change, and so may what the token allows. */
function common(download: Download): [string, string][] {
  return [
    ['Last-Modified', httpDate(download.validators.modifiedMs)],
    ['Cache-Control', 'private, no-cache'],
    ['Accept-Ranges', 'bytes'],
    ...(CORS as [string, string][]),
  ]
}
