import fs, { type FileHandle } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { Bounds, TileFormat } from '@gateway/contracts/basemap.js'
import { temporaryNameBeside } from '@gateway/files/write-atomically.js'
import { tileIdToZxy, zxyToTileId } from 'pmtiles'
import type { TileEncoding } from '../tile-set.js'
import type { TileToWrite } from '../tile-to-write.js'
import { type DirectoryEntry, encodeDirectories } from './encode-directory.js'
import { encodeHeader } from './encode-header.js'
import { HEADER_BYTES } from './layout.js'
import { Appender, type Piece, Spool } from './spool.js'

export interface PmtilesDescription {
  readonly format: TileFormat
  /** how the data of every tile is already compressed */
  readonly encoding: TileEncoding
  readonly bounds: Bounds
  /** becomes the JSON metadata: name, attribution, description, vector_layers ... */
  readonly metadata: Readonly<Record<string, unknown>>
}

interface Addressed {
  readonly tileId: number
  readonly piece: Piece
}

/**
 * Writes a PMTiles 3 archive: clustered, equal tiles stored once, runs of them as one entry. Tiles may come in any order, each address
 * once, zooms up to 26, none empty; at least one. They are spooled to a file beside `file` first, so that memory grows by some
 * hundred bytes a tile only. The archive appears under its name when it is complete and on disk; nothing is left where this throws.
 */
export async function writePmtiles(
  file: string,
  tiles: Iterable<TileToWrite> | AsyncIterable<TileToWrite>,
  description: PmtilesDescription,
): Promise<void> {
  await withTemporaryFile(temporaryNameBeside(file), async (spool) => {
    const addressed = await spoolTiles(spool, tiles)
    const complete = temporaryNameBeside(file)
    await withTemporaryFile(complete, async (out) => {
      await writeArchive(out, spool, addressed, description)
      await out.sync()
      await fs.rename(complete, file)
    })
  })
}

/** The file is removed at the end, unless it was given another name meanwhile. */
async function withTemporaryFile(name: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await fs.open(name, 'wx+')
  try {
    await use(file)
  } finally {
    await file.close()
    await fs.rm(name, { force: true })
  }
}

async function spoolTiles(
  file: FileHandle,
  tiles: Iterable<TileToWrite> | AsyncIterable<TileToWrite>,
): Promise<Addressed[]> {
  const spool = new Spool(file)
  const addressed: Addressed[] = []
  for await (const { z, x, y, data } of tiles) {
    if (data.length === 0) throw new Error(`tile ${z}/${x}/${y} is empty`)
    addressed.push({ tileId: zxyToTileId(z, x, y), piece: await spool.add(data) })
  }
  await spool.flush()
  if (addressed.length === 0) throw new Error('an archive needs at least one tile')
  return addressed.sort((a, b) => a.tileId - b.tileId)
}

async function writeArchive(
  out: FileHandle,
  spool: FileHandle,
  addressed: readonly Addressed[],
  description: PmtilesDescription,
): Promise<void> {
  const { entries, pieces, dataBytes } = cluster(addressed)
  const { root, leaves } = encodeDirectories(entries)
  const metadata = gzipSync(JSON.stringify(description.metadata))
  const rootSection = { offset: HEADER_BYTES, length: root.length }
  const metadataSection = { offset: HEADER_BYTES + root.length, length: metadata.length }
  const leafSection = { offset: metadataSection.offset + metadata.length, length: leaves.length }
  const tileSection = { offset: leafSection.offset + leaves.length, length: dataBytes }
  const header = encodeHeader({
    root: rootSection,
    metadata: metadataSection,
    leaves: leafSection,
    tiles: tileSection,
    addressedTiles: addressed.length,
    entries: entries.length,
    contents: pieces.length,
    format: description.format,
    encoding: description.encoding,
    minZoom: tileIdToZxy(addressed[0]!.tileId)[0],
    maxZoom: tileIdToZxy(addressed.at(-1)!.tileId)[0],
    bounds: description.bounds,
  })
  const appender = new Appender(out, 0)
  for (const part of [header, root, metadata, leaves]) await appender.append(part)
  for (const piece of pieces) await appender.append(await readPiece(spool, piece))
  await appender.flush()
}

/** Lays contents out in the order of the first tile that shows them, and joins neighbours of equal content to runs. */
function cluster(addressed: readonly Addressed[]) {
  const entries: DirectoryEntry[] = []
  const offsets = new Map<Piece, number>()
  let dataBytes = 0
  let previous: Addressed | undefined
  for (const current of addressed) {
    const { tileId, piece } = current
    if (tileId === previous?.tileId) throw new Error(`tile ${tileIdToZxy(tileId).join('/')} comes twice`)
    const last = entries.at(-1)
    if (last !== undefined && piece === previous?.piece && last.tileId + last.runLength === tileId) {
      last.runLength++
    } else {
      const offset = offsets.get(piece) ?? dataBytes
      if (!offsets.has(piece)) {
        offsets.set(piece, offset)
        dataBytes += piece.length
      }
      entries.push({ tileId, runLength: 1, offset, length: piece.length })
    }
    previous = current
  }
  return { entries, pieces: [...offsets.keys()], dataBytes }
}

async function readPiece(spool: FileHandle, { offset, length }: Piece): Promise<Buffer> {
  const { bytesRead, buffer } = await spool.read(Buffer.allocUnsafe(length), 0, length, offset)
  if (bytesRead !== length) throw new Error('the spooled tiles were cut short')
  return buffer
}
