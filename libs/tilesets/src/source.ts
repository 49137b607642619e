import type { Storage, TileFormat } from '@gateway/contracts/basemap.js'
import type { OpenExtent } from './extents.js'
import type { FolderLayoutName } from './layouts/layout.js'
import type { DatabaseLayout } from './mbtiles/page-layout.js'
import type { PmtilesArchive } from './pmtiles/archive.js'
import type { Directory } from './pmtiles/directory.js'
import type { TileEncoding } from './tile-set.js'

/** Size in bytes from which a tile is sent from its file. Below it, reading it into memory at once is cheaper (measured). */
export const SMALL_BYTES = 64 * 1024

/** A tile of the XYZ scheme, whatever the storage uses, within the pyramid (`isInPyramid`). */
export interface TilePlace {
  readonly z: number
  readonly x: number
  readonly y: number
  /** `@2x`: a separate file of that name in a folder */
  readonly suffix?: '' | '@2x'
  /** whatever else a tile that is made for a request depends on; absent: nothing */
  readonly variant?: string
}

/** Who waits for a tile, for a storage that has to make it. */
export interface Asking {
  /** identifies the token, or whoever else waits; callers take turns */
  readonly caller: string
  /** false if nobody waits for the tile any more */
  readonly isWanted: () => boolean
}

/** A part of an open file, which stays open until `release` is called. */
export interface FilePart {
  readonly fd: number
  readonly offset: number
  readonly length: number
  /** scan source of a file on a remote file system, which may stop responding at any time */
  readonly remote?: string | undefined
  /** true if the file may be evicted, and occupies the disk as long as it is open */
  readonly isCached?: boolean
  readonly release: () => void
}

/** A file that consists of one tile. */
export interface TileFile {
  /** directory of the scan source */
  readonly root: string
  /** absolute */
  readonly path: string
  /** see `fileIdentity` */
  readonly identity: string
}

/** An existing tile: a small one with its bytes in memory, a large one with their position. */
export interface Tile {
  readonly body: Uint8Array | FilePart
  /** see `kindOf` */
  readonly format: TileFormat
  readonly encoding: TileEncoding
  /** identifies the content for an ETag: it changes when the bytes may have changed; letters, digits and hyphens */
  readonly identity: string
  /** milliseconds since 1970 */
  readonly modifiedMs: number
  /** null: the tile is part of an archive, or kept on disk and evicted at any time */
  readonly file: TileFile | null
  /** whole seconds for which the tile is current; absent: as long as its version is */
  readonly currentForSeconds?: number
  /** true if a newer one could not be had */
  readonly isStale?: boolean
  /** number of features that a tile that was made leaves out, because they do not fit; absent: none is known of */
  readonly leftOut?: number
}

/** The positions of tiles of a source on this machine's own disks, for code that reads them directly. Valid until the source is closed. */
export type SourceLayout =
  | ({
      readonly kind: 'folder'
      readonly extension: string
      /** of tiles that are fetched or made: see `KeptTiles` */
      readonly kept?: { readonly ttlMs: number; readonly oldBeforeMs: number }
    } & FolderNames)
  | { readonly kind: 'archive'; readonly archive: LaidOutArchive }
  | ({ readonly kind: 'bundles' } & FolderOfBundles)
  | ({ readonly kind: 'database' } & DatabaseFile)

/** The names of a folder's tiles: `{folder}/{z}/{x}/{y}` or another layout. */
export interface FolderNames {
  readonly form: 'xyz' | FolderLayoutName
  /** absolute */
  readonly folder: string
  /** rows (TMS) */
  readonly fromSouth: boolean
  /** level of each zoom that is served; null: each zoom is its own level */
  readonly levels: ReadonlyMap<number, number> | null
}

/** An archive of PMTiles, or one whose tiles have numbers and directories as if it were one. */
export interface LaidOutArchive extends Pick<PmtilesArchive, 'fd' | 'extents' | 'identity' | 'modifiedMs' | 'root'> {
  readonly header: Pick<PmtilesArchive['header'], 'minZoom' | 'maxZoom' | 'leaves' | 'tiles'>
  /** bytes to put before each tile */
  readonly head?: Uint8Array
}

/** The bundles of an Esri compact cache as files: `{folder}/L{level}/R{row}C{column}.bundle`. */
export interface FolderOfBundles {
  /** absolute */
  readonly folder: string
  /** level of each zoom */
  readonly levels: ReadonlyMap<number, number>
}

/** An archive of MBTiles or a table of a GeoPackage whose pages can be read without SQLite. */
export interface DatabaseFile extends DatabaseLayout {
  readonly root: string
  readonly path: string
  /** prefix of the tiles' identities, which append `-z-x-y` */
  readonly identity: string
  readonly modifiedMs: number
}

/** One opened version of a basemap, in any storage. */
export interface Source {
  /**
   * Reads a tile without blocking the event loop. null: there is no such tile. `busy`: the storage did not respond in time. Rejects with
   * `BrokenArchiveError`, with `TileNotMade`, and with errors of the disk (EIO, EMFILE, EACCES ...), which say nothing about the tile.
   */
  tile(place: TilePlace, asking?: Asking): Promise<Tile | null | 'busy'>
  /**
   * Reads a tile if that needs no disk access, for storages in which that pays: it costs a folder a quarter of the processor time, and PMTiles less
   * than half (bench/micro/cold-tile.mjs). undefined: only `tile` can tell. Throws the errors of `tile`.
   */
  tileIfCached?(place: TilePlace): Tile | null | undefined
  /**
   * Tells if a tile exists, without its bytes. undefined: only `tile` can tell. It neither blocks nor reads a disk in this process, and throws or
   * rejects with the errors of `tile`. Absent in storages whose tiles cost no more than the answer.
   */
  has?(place: TilePlace): boolean | undefined | Promise<boolean | 'busy'>
  /** null: it is on a remote file system, or the root does not exist */
  layout?(): SourceLayout | null
  /** Called if the result of `layout` is outdated. The next tile renews it. */
  renewLayout?(): void
  /** For an archive: the cached leaf directories on the way to a tile, by their offset in the file. */
  knownLeaves?(place: TilePlace): Iterable<readonly [offset: number, leaf: Directory]>
  /** For an archive in extents: the open extents of a tile, if the directories on the way to it are in memory. */
  knownExtents?(place: TilePlace): Iterable<OpenExtent>
  /** Releases its resources. Tiles that were returned before stay readable until they are released. */
  close(): void
}

/** How the tiles of a set are stored on a disk of this machine. */
export type StoredSet = Pick<
  SourceSpec,
  'storage' | 'rowsFromNorth' | 'format' | 'formats' | 'path' | 'root' | 'extension'
>

/** Returns how the tiles of a version of the catalog are stored. All readers call this, so that none of them leaves out a field. @param root of its files */
export function storedSet(
  version: Omit<StoredSet, 'root' | 'rowsFromNorth'> & { readonly rowsFromNorth: boolean },
  root: string,
): StoredSet {
  const { storage, rowsFromNorth, format, formats, path, extension } = version
  return { storage, rowsFromNorth, format, formats, path, extension, root }
}

/** The catalog's facts about a version that is to be served. */
export interface SourceSpec {
  /** identifies this content in this process */
  readonly id: number
  readonly storage: Storage
  /** true if rows of an MBTiles archive count from the north; default: from the south, as its specification says */
  readonly rowsFromNorth?: boolean
  readonly format: TileFormat
  /** all formats of a set of several image formats; absent or null for others */
  readonly formats?: readonly TileFormat[] | null | undefined
  /** absolute path of the folder above the zoom folders, or of the archive file */
  readonly path: string
  /** absolute path of the scan source; `path` must not lead out of it */
  readonly root: string
  /** extension of the tiles' file names, from `TileSetProbe.extension` */
  readonly extension: string
  /** identifies the content over restarts, as the last scan found it */
  readonly content?: string
  /** true if it is on a remote file system: then even cached data is read only by `tile` */
  readonly isRemote: boolean
}

/** Opens and reads files as far as the kernel has them in memory; see `CachedFiles` in libs/native-edge. */
export interface CachedReader {
  open(file: string): CachedFile | 'absent' | 'not_now'
  /** Like `open`, without content and descriptor. */
  look(file: string): Pick<CachedFile, 'realPath' | 'isFile' | 'size'> | 'absent' | 'not_now'
  /** Returns null if not all of it is in memory, or the file is shorter. */
  read(fd: number, offset: number, length: number): Uint8Array | null
}

export interface CachedFile {
  /** all symbolic links resolved */
  readonly realPath: string
  readonly isFile: boolean
  /** closed by the caller; null: a small file, which is closed already, or not a plain file */
  readonly fd: number | null
  /** content of a file of up to SMALL_BYTES */
  readonly content: Uint8Array | null
  readonly size: bigint
  readonly ino: bigint
  readonly mtimeNs: bigint
}
