import path from 'node:path'
import type { Refusal } from '@gateway/contracts/errors.js'
import type { Form } from '@gateway/vectors/query/conversion.js'
import { parseFormParameters } from '@gateway/vectors/query/parameters.js'
import type { CatalogVector } from '../sync/catalog.js'
import { building, notMade, soon, withIndex } from './features.js'
import type { RequestContext } from './request-context.js'
import { answerOpened } from './send-download.js'
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
    const opening = soon(exchange.edge.features.form(vector, index, form, parameters, exchange.token ?? '')).then(
      (derived) => {
        if (derived === null) return building(vector)
        return derived.made ? openDerived(exchange, vector, form, derived.path) : notMade(vector, derived)
      },
    )
    answerOpened(exchange, opening, { vector: vector.stored.code })
  })
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
