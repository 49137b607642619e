import fs from 'node:fs'
import type { Refusal } from '@gateway/contracts/errors.js'
import { presentedToken } from '@gateway/core/access/presented-token.js'
import { attachment } from '@gateway/core/files/attachment.js'
import { CORS, type HeaderBlock, headerBlock } from '../answers/header-block.js'
import { parseByteRange } from '../files/byte-range.js'
import { httpDate, isRangeStillGood } from '../files/conditional.js'
import { isStorageTrouble } from '../tiles/read-troubles.js'
import { answerCondition } from './answer-condition.js'
import { answerRefusal, INTERNAL, STORAGE_DOWN } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'
import type { Download } from './vector-file.js'

/** Sends the download that is being opened, or the refusal. `names` identifies it in the log if it cannot be read. */
export function answerOpened(
  exchange: RequestContext,
  opening: Promise<Download | Refusal>,
  names: Record<string, string>,
) {
  const { edge } = exchange
  opening.then(
    (opened) =>
      guarded(edge, () => {
        if (opened.ok) answerDownload(exchange, opened)
        else answerRefusal(exchange, opened)
      }),
    (error) =>
      guarded(edge, () => {
        if (isStorageTrouble(error)) {
          edge.counters.storageRefusals++
          edge.readTroubles.noteStorage(Object.values(names).join('/'), error)
          return answerRefusal(exchange, STORAGE_DOWN)
        }
        edge.readTroubles.noteContent('downloads cannot be read', names, exchange.path, error)
        answerRefusal(exchange, INTERNAL)
      }),
  )
}

/** Sends a file, or its requested range, and closes it. */
function answerDownload(exchange: RequestContext, download: Download) {
  const { fd, size, validators, remote, pieces } = download
  const release = (): void => {
    if (pieces === undefined) fs.close(fd, () => {})
  }
  const send = (status: string, headers: HeaderBlock, offset: number, length: number): void => {
    if (pieces === undefined)
      exchange.answerPart(status, headers, { fd, offset, length, remote, release }, () => mayGoOn(exchange))
    else void exchange.answerPieces(status, headers, length, whileItGoesOn(exchange, pieces(offset, length)))
  }
  if (exchange.aborted) return release()
  const notModified = () => {
    exchange.edge.counters.downloads++
    return headerBlock(['ETag', validators.etag], ...common(download))
  }
  if (answerCondition(exchange, validators, notModified)) return release()
  const asked = exchange.header('range')
  // Range is defined only for GET (RFC 9110, 14.2).
  const ranged = asked !== '' && !exchange.isHead && isRangeStillGood(exchange.header('if-range'), validators)
  const range = ranged ? parseByteRange(asked, size) : ({ kind: 'whole' } as const)
  if (range.kind === 'unsatisfiable') {
    release()
    return answerUnsatisfiable(exchange, size)
  }
  exchange.edge.counters.downloads++
  if (range.kind === 'whole') {
    return send('200 OK', contentHeaders(download), 0, size)
  }
  const headers = contentHeaders(download, ['Content-Range', `bytes ${range.first}-${range.last}/${size}`])
  send('206 Partial Content', headers, range.first, range.last - range.first + 1)
}

async function* whileItGoesOn(exchange: RequestContext, pieces: AsyncIterable<Uint8Array>) {
  for await (const piece of pieces) {
    if (!(await mayGoOn(exchange))) throw new Error('the token has been disabled')
    yield piece
  }
}

/** False if the token of a request has been disabled, or replaced, since the request was admitted. */
export async function mayGoOn(exchange: RequestContext): Promise<boolean> {
  const { edge, query, reader } = exchange
  const presented = presentedToken({
    authorization: exchange.header('authorization'),
    xAccessToken: exchange.header('x-access-token'),
    query,
  })
  // A signed URL has no token.
  if (!presented.ok || reader === null) return true
  const known = edge.tokens.get(presented.token)
  if (known === reader) return true
  const current = known ?? (await edge.tokens.lookUp(presented.token).catch(() => reader))
  return current !== null && !current.disabled
}

function answerUnsatisfiable(exchange: RequestContext, size: number): void {
  const headers = headerBlock(
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Cache-Control', 'no-store'],
    ['Content-Range', `bytes */${size}`],
    ...CORS,
  )
  exchange.answer('416 Range Not Satisfiable', headers, JSON.stringify({ error: 'the file has no such range' }))
}

function contentHeaders(download: Download, ...more: [string, string][]): HeaderBlock {
  return headerBlock(
    ['Content-Type', download.type],
    ['ETag', download.validators.etag],
    ['Content-Disposition', attachment(download.fileName, download.code)],
    ...more,
    ...common(download),
  )
}

/** Caches must revalidate each use, because both the file and the token's grants may change. */
function common(download: Download): [string, string][] {
  return [
    ['Last-Modified', httpDate(download.validators.modifiedMs)],
    ['Cache-Control', 'private, no-cache'],
    ['Accept-Ranges', 'bytes'],
    ...(CORS as [string, string][]),
  ]
}
