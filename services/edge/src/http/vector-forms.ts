import path from 'node:path'
import type { Refusal } from '@gateway/contracts/errors.js'
import { attachment } from '@gateway/core/files/attachment.js'
import type { Form } from '@gateway/vectors/query/conversion.js'
import type { ItemsQuery } from '@gateway/vectors/query/items-query.js'
import { everyItem, parseFormParameters } from '@gateway/vectors/query/parameters.js'
import { CORS, headerBlock } from '../answers/header-block.js'
import type { CatalogVector } from '../sync/catalog.js'
import { building, notMade, refusalOf, soon, withIndex } from './features.js'
import { answerRefusal } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'
import { answerOpened, mayGoOn } from './send-download.js'
import { type Download, openFile } from './vector-file.js'

const TYPES: Readonly<Record<Form, string>> = {
  geojson: 'application/geo+json',
  gpkg: 'application/geopackage+sqlite3',
  fgb: 'application/flatgeobuf',
  zip: 'application/zip',
  csv: 'text/csv; charset=utf-8',
}

/** True if a download is to be another file than the stored one, although it has the same form. */
export function isOtherFile(query: string): boolean {
  if (!query.includes('crs=') && !query.includes('guard=')) return false
  const parameters = new URLSearchParams(query)
  return parameters.has('crs') || parameters.has('guard')
}

/** Sends a vector in another form than the stored one. It is made once for each content, and cached. */
export function answerForm(exchange: RequestContext, vector: CatalogVector, form: Form): void {
  withIndex(exchange, vector, (index) => {
    const parameters = parseFormParameters(exchange.query, form, index.description)
    if (index.table !== undefined && form !== 'gpkg' && form !== 'zip')
      return void streamTable(exchange, vector, everyItem(index, parameters, form))
    const opening = soon(exchange.edge.features.form(vector, index, form, parameters, exchange.token ?? '')).then(
      (derived) => {
        if (derived === null) return building(vector)
        return derived.made ? openDerived(exchange, vector, form, derived.path) : notMade(vector, derived)
      },
    )
    answerOpened(exchange, opening, { vector: vector.stored.code })
  })
}

/** Sends all features of a table while they are read, at the pace of the client. */
async function streamTable(exchange: RequestContext, { stored }: CatalogVector, query: ItemsQuery): Promise<void> {
  const { edge, gone, token } = exchange
  const chunks = edge.features.run(query, stored.code, gone, token ?? '')
  const isJson = query.format === 'geojson'
  try {
    // A refusal is possible until the first bytes are sent.
    const first = await chunks.next()
    if (exchange.aborted || first.done === true) return
    edge.counters.downloads++
    const headers = headerBlock(
      ['Content-Type', TYPES[query.format]],
      ['Content-Disposition', attachment(`${stored.fileName}.${query.format}`, stored.code)],
      ['Cache-Control', 'no-store'],
      ['Vary', 'Authorization, X-Access-Token'],
      ...CORS,
    )
    if (exchange.isHead) return exchange.answerEmpty('200 OK', headers)
    const pieces = async function* () {
      if (isJson) yield Buffer.from('{"type":"FeatureCollection","features":[')
      yield first.value.bytes
      for await (const { bytes } of chunks) {
        if (!(await mayGoOn(exchange))) throw new Error('the token has been disabled')
        if (bytes.length > 0) yield bytes
      }
      if (isJson) yield Buffer.from(']}\n')
    }
    await exchange.answerPieces('200 OK', headers, null, pieces())
  } catch (error) {
    guarded(edge, () => {
      if (!exchange.aborted) answerRefusal(exchange, refusalOf(edge, exchange, error))
    })
  } finally {
    await chunks.return()
  }
}

async function openDerived(
  exchange: RequestContext,
  { stored }: CatalogVector,
  form: Form,
  file: string,
): Promise<Download | Refusal> {
  const fileName = `${stored.fileName.replace(/\.[^.]*$/, '')}.${form}`
  const offered = { root: path.dirname(file), path: file, type: TYPES[form], fileName, code: stored.code }
  const opened = await openFile(exchange, offered)
  if (!opened.ok) return opened
  // A file that this service writes is the same on every edge, so that a download can continue at another one.
  const isRepeatable = form === 'geojson' || form === 'csv'
  const etag = isRepeatable ? `"${path.basename(path.dirname(file))}"` : opened.validators.etag
  return { ...opened, validators: { etag, modifiedMs: stored.modifiedAt.getTime() } }
}
