import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment } from '@gateway/tilesets/address.js'
import type { Edge } from '../edge.js'
import { authorize } from './authorize.js'
import { answerOpened } from './downloads.js'
import { Exchange } from './exchange.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { wantedBasemap } from './tile-answer.js'
import { openFile } from './vector-file.js'

const TYPES: Readonly<Record<string, string>> = {
  pmtiles: 'application/vnd.pmtiles',
  mbtiles: 'application/vnd.sqlite3',
}

/** GET and HEAD of `/archives/{code}/{version}.{pmtiles|mbtiles}`: a version that is such an archive, whole or in ranges. */
export function onArchive(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new Exchange(edge, 'download', res, req)
  const [, , code = '', file = '', ...rest] = exchange.path.split('/').map((segment) => decodedSegment(segment) ?? '')
  const dot = file.lastIndexOf('.')
  const label = file.slice(0, Math.max(0, dot))
  const answer = () => {
    const storage = file.slice(dot + 1)
    const version = edge.freshness.catalog.basemaps.get(code)?.versions.get(label)
    const isArchive = Object.hasOwn(TYPES, storage) && version?.stored.storage === storage
    if (rest.length > 0 || version === undefined || !isArchive) return answerRefusal(exchange, NOT_FOUND)
    const { version: name, path } = version.stored
    const offered = {
      root: version.root,
      path,
      type: TYPES[storage] as string,
      fileName: `${code}-${name}.${storage}`,
    }
    answerOpened(exchange, openFile(exchange, offered), { basemap: code, version: name })
  }
  authorize(exchange, wantedBasemap(edge, code), answer, { code, version: label, whole: true })
}
