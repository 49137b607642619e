import fs from 'node:fs'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { openBelow } from '@gateway/files/open-below.js'
import type { CatalogVector } from '../catalog/catalog.js'
import type { Edge } from '../edge.js'
import type { Validators } from '../files/conditional.js'
import { isOnLocalDisk } from '../files/local-file-system.js'
import type { Exchange } from './exchange.js'
import { DISK_BUSY, NOT_FOUND } from './refusals.js'

const NO_SPACE = refuse('dependency_down', 'there is no space left for the zip; please tell the operator')
const CHANGING = refuse('dependency_down', 'the shapefile is being written at this moment; please try again')

/** A file that is ready to be sent. Whoever got it closes `fd`. */
export interface Download {
  readonly ok: true
  readonly fd: number
  readonly size: number
  /** see `FilePart` */
  readonly remote?: string | undefined
  readonly validators: Validators
  readonly type: string
  readonly fileName: string
}

/** Opens what a vector is downloaded as: the file itself, or the zip of a shapefile. Rejects with what the disk says. */
export function openVector(exchange: Exchange, vector: CatalogVector): Promise<Download | Refusal> {
  return vector.stored.kind === 'shapefile' ? openZip(exchange.edge, vector) : openGeoJson(exchange, vector)
}

async function openGeoJson(exchange: Exchange, { stored }: CatalogVector): Promise<Download | Refusal> {
  const answer = await exchange.edge.disks.run(stored.sourcePath, {
    read: async () => {
      const isLocal = await isOnLocalDisk(stored.path).catch(() => false)
      return { isLocal, opened: await openBelow(stored.sourcePath, stored.path) }
    },
    discard: ({ opened }) => {
      if (opened.ok) fs.close(opened.fd, () => {})
    },
    isWanted: () => !exchange.aborted,
  })
  if (!answer.ok) return DISK_BUSY
  const { opened, isLocal } = answer.value
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error('the file exists, but may not be read')
    return NOT_FOUND
  }
  return {
    ok: true,
    fd: opened.fd,
    size: opened.size,
    remote: isLocal ? undefined : stored.sourcePath,
    validators: { etag: `"${opened.identity}"`, modifiedMs: opened.mtimeMs },
    type: 'application/geo+json',
    fileName: stored.fileName,
  }
}

async function openZip(edge: Edge, { stored }: CatalogVector): Promise<Download | Refusal> {
  const zip = await edge.zips.open(stored.sourcePath, stored.path)
  if (!zip.ok) return { absent: NOT_FOUND, no_space: NO_SPACE, changing: CHANGING, busy: DISK_BUSY }[zip.reason]
  return {
    ok: true,
    fd: zip.fd,
    size: zip.size,
    validators: { etag: `"${zip.identity}"`, modifiedMs: zip.modifiedMs },
    type: 'application/zip',
    fileName: stored.fileName.replace(/\.shp$/i, '.zip'),
  }
}
