import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { decodedSegment } from '@gateway/tilesets/address.js'
import type { Edge } from '../edge.js'
import { type Ask, admit } from './authorize.js'
import { absentVersion, shownName } from './missing-reasons.js'
import { answerRefusal, NOT_FOUND } from './refusals.js'
import { RequestContext } from './request-context.js'
import { answerOpened } from './send-download.js'
import { wantedBasemap } from './tile-answer.js'
import { type Download, type OfferedFile, openFile, openObject } from './vector-file.js'

const TYPES: Readonly<Record<string, string>> = {
  pmtiles: 'application/vnd.pmtiles',
  mbtiles: 'application/vnd.sqlite3',
}

/** Handles GET and HEAD of `/archives/{code}/{version}.{pmtiles|mbtiles}`: the archive of a version, whole or in ranges. */
export function onArchive(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'download', res, req)
  const { code, label, storage, rest } = archiveAddress(exchange.path)
  const answer = () => {
    const basemap = edge.freshness.catalog.basemaps.get(code)
    const version = basemap?.versions.get(label)
    if (rest.length > 0 || !Object.hasOwn(TYPES, storage)) return answerRefusal(exchange, NO_ARCHIVE_ADDRESS)
    if (version === undefined) {
      return answerRefusal(exchange, refuse('not_found', absentVersion(code, label, basemap, exchange.token !== '')))
    }
    const { storage: stored } = version.stored
    if (stored !== storage) return answerRefusal(exchange, otherStorage(code, label, stored))
    exchange.asked = version.usage
    const { version: name, path } = version.stored
    const offered = {
      root: version.root,
      path,
      type: TYPES[storage] as string,
      fileName: `${code}-${name}.${storage}`,
      code,
    }
    const opening = isRemote(path) ? openRemoteArchive(exchange, offered) : openFile(exchange, offered)
    answerOpened(exchange, opening, { basemap: code, version: name })
  }
  admit(exchange, askArchive(edge, exchange.path), answer)
}

function archiveAddress(path: string) {
  const [, , code = '', file = '', ...rest] = path.split('/').map((segment) => decodedSegment(segment) ?? '')
  const dot = file.lastIndexOf('.')
  return { code, label: file.slice(0, Math.max(0, dot)), storage: file.slice(dot + 1), rest }
}

export function askArchive(edge: Edge, path: string): Ask {
  const { code, label } = archiveAddress(path)
  const signable = { code, version: label, whole: true }
  return { wanted: wantedBasemap(edge, code), signable, reach: signable }
}

const NO_ARCHIVE_ADDRESS = refuse('not_found', coded('archive_address'))

function otherStorage(code: string, label: string, storage: string): Refusal {
  const isArchive = Object.hasOwn(TYPES, storage)
  const said = { version: shownName(label), name: shownName(code), storage }
  return refuse('not_found', coded(isArchive ? 'archive_other_storage' : 'archive_none', said))
}

/**
 * Opens an archive in object storage. Its ranges are read there, except the small ones in the cache. MBTiles archives are complete in the
 * cache.
 */
async function openRemoteArchive(exchange: RequestContext, offered: OfferedFile): Promise<Download | Refusal> {
  const { root, path } = offered
  if (!path.endsWith('.mbtiles')) return openObject(exchange, offered)
  const fetched = await exchange.edge.tiles.remote?.fetched(root, path)
  if (fetched === undefined) return NOT_FOUND
  const { root: cache, path: file, name, facts } = fetched
  const opened = await openFile(exchange, { ...offered, root: cache, path: file })
  if (!opened.ok) return opened
  // Uses the same validators as every edge, so that a download can continue at another edge.
  const modifiedMs = facts.modifiedAt?.getTime() ?? opened.validators.modifiedMs
  return { ...opened, validators: { etag: `"${name}"`, modifiedMs } }
}
