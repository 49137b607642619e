import type { Storage, TileFormat } from '@gateway/contracts/basemap.js'
import type { OpenExtent } from './extents.js'
import type { DatabaseLayout } from './mbtiles/page-layout.js'
import type { PmtilesArchive } from './pmtiles/archive.js'
import type { Directory } from './pmtiles/directory.js'
import type { TileEncoding } from './tile-set.js'

/** From this size on a tile is sent from its file; below, reading it into memory at once is cheaper (measured). Bytes. */
export const SMALL_BYTES = 64 * 1024

/** A tile of the XYZ scheme, whatever the storage's own is. Within the pyramid (`isInPyramid`). */
export interface TilePlace {
  readonly z: number
  readonly x: number
  readonly y: number
  /** `@2x`: a folder's own file of that name */
  readonly suffix?: '' | '@2x'
}

/** A part of an open file. It stays open until `release` is called. */
export interface FilePart {
  readonly fd: number
  readonly offset: number
  readonly length: number
  /** the scan source of a file that is on a file system of another machine, which may stop answering at any time */
  readonly remote?: string | undefined
  /** it is of a file that may be evicted, and takes room on the disk for as long as it is open */
  readonly isCached?: boolean
  readonly release: () => void
}

/** The file that a tile's bytes are all of. */
export interface TileFile {
  /** the scan source's directory */
  readonly root: string
  /** absolute */
  readonly path: string
  /** see `fileIdentity` */
  readonly identity: string
}

/** A tile that exists: a small one with its bytes, in memory of their own, a large one with where they are. */
export interface Tile {
  readonly body: Uint8Array | FilePart
  readonly encoding: TileEncoding
  /** names the content: it changes when the bytes may have changed, and is the stuff of an ETag; letters, digits and hyphens */
  readonly identity: string
  /** milliseconds since 1970 */
  readonly modifiedMs: number
  /** null: a part of an archive */
  readonly file: TileFile | null
}

/** Where the tiles of a source on this machine's own disks are, for what reads them without asking it. Good until the source is closed. */
export type SourceLayout =
  /** `{folder}/{z}/{x}/{y}.{extension}`, absolute; rows counted from the south (TMS) or the north. Vector tiles are gzip or not, one by one. */
  | { readonly kind: 'folder'; readonly folder: string; readonly extension: string; readonly fromSouth: boolean }
  | { readonly kind: 'archive'; readonly archive: LaidOutArchive; readonly encoding: TileEncoding | 'either' }
  | ({ readonly kind: 'database' } & DatabaseFile)

/** An archive of PMTiles, or one whose tiles have numbers and directories as if it were one. `either`: tiles are gzip or not, one by one. */
export interface LaidOutArchive extends Pick<PmtilesArchive, 'fd' | 'extents' | 'identity' | 'modifiedMs' | 'root'> {
  readonly header: Pick<PmtilesArchive['header'], 'minZoom' | 'maxZoom' | 'leaves' | 'tiles'>
}

/** An MBTiles archive whose pages can be read without SQLite. Tiles are gzip or not, one by one. */
export interface DatabaseFile extends DatabaseLayout {
  readonly root: string
  readonly path: string
  /** as of its tiles, which have `-z-x-y` behind it */
  readonly identity: string
  readonly modifiedMs: number
}

/** One opened version of a basemap, whatever it is stored in. */
export interface Source {
  /**
   * null: there is no such tile. `busy`: the storage did not answer in time. Does not hold the event loop. Rejects with `BrokenArchiveError`, and with
   * what the disk says (EIO, EMFILE, EACCES ...), which says nothing about the tile.
   */
  tile(place: TilePlace): Promise<Tile | null | 'busy'>
  /**
   * `tile` as far as no disk needs to be waited for, for storages where that pays: it costs a folder a quarter of the processor time, PMTiles less
   * than half (bench/micro/cold-tile.mjs). undefined: only `tile` can tell. Throws what `tile` rejects with.
   */
  tileIfCached?(place: TilePlace): Tile | null | undefined
  /** null: it is on a file system of another machine, or the root is not there */
  layout?(): SourceLayout | null
  /** What `layout` says is outdated: the next tile brings another one. */
  renewLayout?(): void
  /** Of an archive: the leaf directories on the way to a tile that are in memory, by their offset in the file. */
  knownLeaves?(place: TilePlace): Iterable<readonly [offset: number, leaf: Directory]>
  /** Of an archive in extents: those open that a tile lies in, if the directories on the way to it are in memory. */
  knownExtents?(place: TilePlace): Iterable<OpenExtent>
  /** Gives back what it holds. Tiles handed out before stay readable until they are released. */
  close(): void
}

/** What the catalog knows of a version that is to be served. */
export interface SourceSpec {
  /** names this content in this process */
  readonly id: number
  readonly storage: Storage
  /** of an MBTiles archive: rows are counted from the north; left out: from the south, as its specification says */
  readonly rowsFromNorth?: boolean
  readonly format: TileFormat
  /** the folder above the zoom folders, or the archive file; absolute */
  readonly path: string
  /** the scan source that `path` must not lead out of; absolute */
  readonly root: string
  /** of the tiles' file names, as `TileSetProbe.extension` gave it */
  readonly extension: string
  /** names the content over restarts, as the last scan found it */
  readonly content?: string
  /** whether it is on a file system of another machine: then even what is cached is read by `tile` alone */
  readonly isRemote: boolean
}

/** Opens and reads files as far as the kernel has them in memory: `CachedFiles` of @gateway/native-edge says more. */
export interface CachedReader {
  open(file: string): CachedFile | 'absent' | 'not_now'
  /** null: not all of it is in memory, or the file ends before */
  read(fd: number, offset: number, length: number): Uint8Array | null
}

export interface CachedFile {
  /** all symbolic links resolved */
  readonly realPath: string
  readonly isFile: boolean
  /** to be closed by the caller; null: a small file, closed again, or no plain file */
  readonly fd: number | null
  /** of a file of up to SMALL_BYTES */
  readonly content: Uint8Array | null
  readonly size: bigint
  readonly ino: bigint
  readonly mtimeNs: bigint
}
