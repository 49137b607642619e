import path from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { VECTOR_DOWNLOADS, type VectorKind } from '@gateway/contracts/vector.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment } from '@gateway/tilesets/address.js'
import { FORMS, type Form } from '@gateway/vectors/query/conversion.js'
import type { Edge } from '../edge.js'
import { namesBeside } from '../files/names-beside.js'
import type { CatalogVector } from '../sync/catalog.js'
import { ANY_TOKEN, type Ask, admit, type Wanted } from './authorize.js'
import { noVector, shownName } from './missing-reasons.js'
import { onOther } from './proxy.js'
import { answerRefusal, UNDECODABLE } from './refusals.js'
import { guarded, RequestContext } from './request-context.js'
import { answerOpened } from './send-download.js'
import { wantedVector } from './tile-answer.js'
import { openVector } from './vector-file.js'
import { answerForm, isOtherFile } from './vector-forms.js'

const VECTORS = '/vectors/'
const DOWNLOAD = '/download'

/** Handles GET and HEAD of `/vectors/{code}/download`; other addresses below `/vectors/` are proxied. */
export function onVectorDownload(edge: Edge, res: HttpResponse, req: HttpRequest) {
  const url = req.getUrl()
  const inner = url.slice(VECTORS.length, -DOWNLOAD.length)
  if (!url.endsWith(DOWNLOAD) || inner === '' || inner.includes('/')) return onOther(edge, res, req)
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'download', res, req)
  const code = decodedSegment(inner)
  const ask = askVectorDownload(edge, exchange.path)
  if (code === null) return admit(exchange, ask, () => answerRefusal(exchange, UNDECODABLE))
  const vector = edge.freshness.catalog.vectors.get(code)
  admit(exchange, ask, () => answerVector(exchange, vector, code))
}

/** A whole file cannot be cut to the bounds of a token. */
export function askVectorDownload(edge: Edge, path: string): Ask {
  const code = decodedSegment(path.slice(VECTORS.length, -DOWNLOAD.length))
  return code === null ? ANY_TOKEN : { wanted: wantedVector(edge, code), signable: null, reach: null }
}

const EXTENSIONS: ReadonlySet<string> = new Set(Object.values(VECTOR_DOWNLOADS).map(({ extension }) => extension))

/**
 * Handles GET and HEAD of `/vectors/{code}.geojson`, `.zip`, `.gpkg`, `.kml` and so on: the download under a name that desktop software expects,
 * in the stored form or converted from it.
 */
export function onVectorFile(edge: Edge, res: HttpResponse, req: HttpRequest) {
  const ask = askVectorFile(edge, req.getUrl())
  if (ask === null) return onOther(edge, res, req)
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'download', res, req)
  const { code, extension } = fileAddress(exchange.path)
  if (code === null) return admit(exchange, ask, () => answerRefusal(exchange, UNDECODABLE))
  const vector = edge.freshness.catalog.vectors.get(code)
  const granted = () => {
    if (!vector?.served) return answerVector(exchange, vector, code)
    const isStored = VECTOR_DOWNLOADS[vector.stored.kind].extension === extension
    const form = FORMS.find((known) => known === extension)
    const isOther = isOtherFile(exchange.query) || (form !== undefined && isForeignText(vector))
    if (isStored && !isOther) return void answerStored(exchange, vector, form)
    if (form !== undefined) return answerForm(exchange, vector, form)
    answerRefusal(exchange, otherKind(code, vector.stored.kind))
  }
  admit(exchange, ask, granted)
}

/** True for a text in another encoding than UTF-8, in which no program expects GeoJSON and few expect CSV. */
function isForeignText({ stored: { kind }, encoding }: CatalogVector): boolean {
  return (kind === 'geojson' || kind === 'csv') && encoding !== null && !/^(?:UTF-8|ASCII)$/i.test(encoding.name)
}

/** Sends a vector in its stored form. A shapefile without `.shx`, which GDAL does not open, is written again. */
async function answerStored(exchange: RequestContext, vector: CatalogVector, form: Form | undefined) {
  const { kind, path: file, sourcePath } = vector.stored
  if (form === undefined || kind !== 'shapefile' || isRemote(file))
    return answerVector(exchange, vector, vector.stored.code)
  const { disks } = exchange.edge
  const looked = await disks
    .run(sourcePath, { read: () => namesBeside(file), discard: () => {}, isWanted: () => !exchange.aborted })
    .catch(() => null)
  const isIncomplete =
    looked?.ok === true && looked.value.length > 0 && !looked.value.some((name) => /\.shx$/i.test(name))
  guarded(exchange.edge, () => {
    if (exchange.aborted) return
    if (isIncomplete) answerForm(exchange, vector, form)
    else answerVector(exchange, vector, vector.stored.code)
  })
}

/** `code` is null if it cannot be decoded, and empty if the address does not name a file. */
function fileAddress(path: string) {
  const name = path.slice(VECTORS.length)
  const dot = name.lastIndexOf('.')
  const extension = name.slice(dot + 1)
  const isFile = EXTENSIONS.has(extension) && dot >= 1 && !name.includes('/')
  return { code: isFile ? decodedSegment(name.slice(0, dot)) : '', extension }
}

/** Sources of styles have this address, so a signature may open it. */
export function askVectorFile(edge: Edge, path: string): Ask | null {
  const { code } = fileAddress(path)
  if (code === '') return null
  if (code === null) return ANY_TOKEN
  const signable = { opens: 'vector', code, version: null } as const
  return { wanted: wantedVector(edge, code), signable, reach: signable }
}

/** Handles GET and HEAD of the compatibility routes `/geojson/{relative_path}` and `/shp/{relative_path}`. */
export function onVectorByPath(edge: Edge, kind: VectorKind, prefix: string, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'download', res, req)
  const relativePath = decodedSegment(exchange.path.slice(prefix.length))
  const ask = askVectorByPath(edge, kind, prefix, exchange.path)
  if (relativePath === null) return admit(exchange, ask, () => answerRefusal(exchange, UNDECODABLE))
  const { found } = vectorsAt(edge, kind, relativePath)
  admit(exchange, ask, (_, which) => answerVector(exchange, found[which], relativePath))
}

export function askVectorByPath(edge: Edge, kind: VectorKind, prefix: string, path: string): Ask {
  const relativePath = decodedSegment(path.slice(prefix.length))
  if (relativePath === null) return ANY_TOKEN
  return { wanted: vectorsAt(edge, kind, relativePath).wanted, signable: null, reach: null }
}

/**
 * Returns the vectors that a relative path may mean. A sequence of GeoJSON often has the extension `.geojson`; its media type says what it is.
 */
function vectorsAt({ freshness }: Edge, kind: VectorKind, relativePath: string) {
  const kinds: readonly VectorKind[] = kind === 'geojson' ? ['geojson', 'geojson_sequence'] : [kind]
  const found = (freshness.catalog.vectorsByPath.get(relativePath) ?? []).filter((v) => kinds.includes(v.stored.kind))
  // An address without a vector needs a token that is granted its name, so that 403 and 404 disclose nothing.
  const wanted: Wanted =
    found.length > 0
      ? found.map((vector) => vector.wanted)
      : { kind: 'vector', names: [relativePath, path.posix.basename(relativePath)] }
  return { found, wanted }
}

function otherKind(code: string, kind: VectorKind): Refusal {
  const address = `/vectors/${encodeURIComponent(code)}.${VECTOR_DOWNLOADS[kind].extension}`
  return refuse('not_found', coded('vector_other_kind', { name: shownName(code), kind, address }))
}

/** `name` is the one in the request. */
function answerVector(exchange: RequestContext, vector: CatalogVector | undefined, name: string) {
  if (!vector?.served) return answerRefusal(exchange, noVector(name))
  const { kind } = vector.stored
  if (kind === 'postgis' || kind === 'postgis-function') return answerForm(exchange, vector, 'geojson')
  answerOpened(exchange, openVector(exchange, vector), { vector: vector.stored.code })
}
