import fs from 'node:fs'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { VECTOR_DOWNLOADS } from '@gateway/contracts/vector.js'
import { isOnLocalDisk } from '@gateway/core/files/local-file-system.js'
import { openBelow } from '@gateway/core/files/open-below.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { hasUnfinishedWrites } from '@gateway/tilesets/mbtiles/unfinished-writes.js'
import type { Edge } from '../edge.js'
import type { Validators } from '../files/conditional.js'
import type { CatalogVector } from '../sync/catalog.js'
import { DISK_BUSY, NOT_FOUND } from './refusals.js'
import type { RequestContext } from './request-context.js'

const NO_SPACE = refuse('dependency_down', coded('zip_no_space'))
const CHANGING = refuse('dependency_down', coded('shapefile_changing'))
const UNFINISHED = refuse('dependency_down', coded('database_changing'))

/** A file that is ready to be sent. The caller closes `fd`. */
export interface Download {
  readonly ok: true
  readonly fd: number
  /** Reads a range of a remote file, which has no `fd`. */
  readonly pieces?: (offset: number, length: number) => AsyncIterable<Uint8Array>
  readonly size: number
  /** See `FilePart`. */
  readonly remote?: string | undefined
  readonly validators: Validators
  readonly type: string
  readonly fileName: string
  /** Code of the vector or basemap. */
  readonly code: string
}

/** Opens the download of a vector: the file itself, or the zip of a shapefile. Rejects with the error of the disk. */
export function openVector(exchange: RequestContext, vector: CatalogVector): Promise<Download | Refusal> {
  return vector.stored.kind === 'shapefile' ? openZip(exchange.edge, vector) : openWhole(exchange, vector)
}

function openWhole(exchange: RequestContext, { stored }: CatalogVector): Promise<Download | Refusal> {
  const { sourcePath: root, path, fileName, kind, code } = stored
  const offered = { root, path, type: VECTOR_DOWNLOADS[kind].type, fileName, code }
  return isRemote(path) ? openObject(exchange, offered) : openFile(exchange, offered)
}

/** A file below a scan source's directory, and the form in which it is sent. */
export interface OfferedFile {
  readonly root: string
  readonly path: string
  readonly type: string
  readonly fileName: string
  /** Code of the vector or basemap. */
  readonly code: string
}

/** Opens a file that is sent unchanged. Rejects with the error of the disk. */
export async function openFile(
  exchange: RequestContext,
  { root, path, type, fileName, code }: OfferedFile,
): Promise<Download | Refusal> {
  const answer = await exchange.edge.disks.run(root, {
    read: async () => {
      const isLocal = await isOnLocalDisk(path).catch(() => false)
      const opened = await openBelow(root, path)
      // Checked once the file is open: a journal that a writer begins later belongs to later pages, which the ETag of a range tells apart.
      return { isLocal, opened, isUnfinished: opened.ok && (await hasUnfinishedWrites(opened.realPath)) }
    },
    discard: ({ opened }) => {
      if (opened.ok) fs.close(opened.fd, () => {})
    },
    isWanted: () => !exchange.aborted,
  })
  if (!answer.ok) return DISK_BUSY
  const { opened, isLocal, isUnfinished } = answer.value
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error('the file exists, but may not be read')
    return NOT_FOUND
  }
  if (isUnfinished) {
    fs.close(opened.fd, () => {})
    return UNFINISHED
  }
  const { fd, size, identity, mtimeMs } = opened
  const validators = { etag: `"${identity}"`, modifiedMs: mtimeMs }
  return { ok: true, fd, size, remote: isLocal ? undefined : root, validators, type, fileName, code }
}

/** Opens an object that is sent unchanged; the pieces of a response never mix two states of it. Rejects with the error of its store. */
export async function openObject(
  { edge }: RequestContext,
  { root, path, type, fileName, code }: OfferedFile,
): Promise<Download | Refusal> {
  const reader = await edge.tiles.remote?.reader(root, path)
  if (reader === undefined) return NOT_FOUND
  const { facts, name } = reader
  const validators = { etag: `"${name}"`, modifiedMs: facts.modifiedAt?.getTime() ?? 0 }
  const pieces = (offset: number, length: number) => reader.pieces({ offset, length })
  return { ok: true, fd: -1, pieces, size: facts.size, validators, type, fileName, code }
}

async function openZip(edge: Edge, { stored, encoding }: CatalogVector): Promise<Download | Refusal> {
  const { sourcePath: root, path } = stored
  const object = isRemote(path) ? edge.tiles.remote?.object(root, path) : null
  if (object === undefined) return NOT_FOUND
  const zip = await (object === null ? edge.zips.open(root, path, encoding) : edge.zips.openRemote(object, encoding))
  if (!zip.ok) return { absent: NOT_FOUND, no_space: NO_SPACE, changing: CHANGING, busy: DISK_BUSY }[zip.reason]
  return {
    ok: true,
    fd: zip.fd,
    size: zip.size,
    validators: { etag: `"${zip.identity}"`, modifiedMs: zip.modifiedMs },
    type: VECTOR_DOWNLOADS.shapefile.type,
    fileName: stored.fileName.replace(/\.shp$/i, '.zip'),
    code: stored.code,
  }
}
