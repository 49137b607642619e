import {
  type FixedAnswer,
  headOf,
  headOfFixed,
  NATIVE_CLOCK_OFFSET,
  type ResponseHeaders,
  type ResponseTable,
} from '../hot-tiles/response-table.js'

/** What native/cold_tiles/cold_sets_addon.cc exports; see there. */
export interface ColdSetsAddon {
  canReadColdTiles(): boolean
  putHeads(found: string, notModified: string): number
  putFolderSet(...set: [...SetArguments, root: string, folder: string, extension: string, fromSouth: boolean]): void
  putArchiveSet(...set: [...SetArguments, archive: number]): boolean
  putDatabaseSet(...set: [...SetArguments, root: string, path: string, identity: string, words: BigInt64Array]): number
  putArchive(
    id: number,
    fd: number,
    identity: string,
    modified: number,
    minZoom: number,
    maxZoom: number,
    sections: Uint8Array,
    ...columns: DirectoryBytes
  ): void
  putWmts(address: string, matrixSets: string, mediaType: string, extension: string): void
  putZooms(address: string, minZoom: number, maxZoom: number, head: string, body: Uint8Array): void
  putLeaf(archive: number, offset: number, ...columns: DirectoryBytes): void
  putExtent(archive: number, index: number, fd: number, present: Uint8Array): void
  countPlaced(): number[]
  forgetEvicted(): void
}

type SetArguments = [
  address: string,
  code: number,
  goodUntil: number,
  extensions: string,
  geographic: boolean,
  plain: number,
  packed: number,
  usage: string,
]
type DirectoryBytes = [ids: Uint8Array, runs: Uint8Array, offsets: Uint8Array, lengths: Uint8Array]

/** In a field's value: what differs from tile to tile. */
export const GAP = '\u0001'

/** The fields of the answers for a set's tiles, SERVER_MARK included: of a 200 but Content-Length and Date, and of a 304. */
export interface SetHeads {
  /** with a GAP for the entity tag and one for Last-Modified, in that order */
  readonly found: ResponseHeaders
  readonly notModified: ResponseHeaders
}

/** Tiles that a folder holds as `{folder}/{z}/{x}/{y}.{extension}`. On a file system of this machine alone. */
export interface FolderPlace {
  /** the directory out of which nothing is read; absolute */
  readonly root: string
  /** below the root: empty, or with a slash at its end */
  readonly folder: string
  readonly extension: string
  /** rows are counted from the south (TMS) */
  readonly fromSouth: boolean
}

/** A decoded directory of a PMTiles archive: columns in the order of the tiles' numbers. A run of 0 points to a leaf directory. */
export interface DirectoryColumns {
  readonly tileIds: Float64Array
  readonly runLengths: Float64Array
  readonly offsets: Float64Array
  readonly lengths: Uint32Array
}

/** A PMTiles archive that was opened and checked. On a file system of this machine alone. */
export interface ArchivePlace {
  /** names its content in this process */
  readonly id: number
  /** is duplicated; -1: it is elsewhere, and what is here of it comes by `putExtent` */
  readonly fd: number
  readonly extents?: { readonly extentBytes: number; readonly blockBytes: number }
  /** of the file's content; letters, digits and hyphens */
  readonly identity: string
  readonly modifiedMs: number
  readonly header: {
    readonly minZoom: number
    readonly maxZoom: number
    readonly leaves: { readonly offset: number; readonly length: number }
    readonly tiles: { readonly offset: number; readonly length: number }
  }
  readonly root: DirectoryColumns
}

/** One row of a database, found by an index or by its number. */
export interface DatabaseStep {
  /** root page of the index; 0: the one key is the row's number */
  readonly index: number
  /** one for each column of the index in its order: 0 the zoom, 1 the column, 2 the row from the south, 3 what the step before has found */
  readonly keys: readonly number[]
  /** root page of the table; 0: the index holds whole rows */
  readonly table: number
  /** what is wanted of the row, by its place in the record */
  readonly column: number
}

/** An MBTiles archive that SQLite has opened, unlocked, without a journal. On a file system of this machine alone. */
export interface DatabasePlace {
  /** names its content in this process */
  readonly id: number
  /** the directory out of which nothing is read; absolute */
  readonly root: string
  /** below the root */
  readonly path: string
  /** of the file's content; letters, digits and hyphens */
  readonly identity: string
  readonly modifiedMs: number
  readonly pageBytes: number
  /** of the file when SQLite looked at it; times in nanoseconds since 1970 */
  readonly stamp: { readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint; readonly ctimeNs: bigint }
  /** of the last one the tile's bytes are wanted */
  readonly steps: readonly DatabaseStep[]
}

/** Limit: larger tiles of a database are not read here. As kMaxTile of native/cold_tiles/tile_database.h; bytes. */
export const DATABASE_TILE_BYTES = 512 * 1024

export interface ColdSet {
  /** what stands between `/tiles/` and the zoom: `code/version` or `code` */
  readonly address: string
  /** the basemap that a token must be granted, and by which the set is dropped */
  readonly code: string
  /** by `performance.now()` */
  readonly goodUntilMs: number
  /** those in an address that mean these tiles */
  readonly extensions: readonly string[]
  /** two columns at zoom 0 */
  readonly geographic: boolean
  /** for tiles that are stored as they are, and as gzip; null: there are none such. Where there are both, each tile's first bytes tell. */
  readonly plain: SetHeads | null
  readonly packed: SetHeads | null
  /** what answers are counted for next to the token: `TileResponse.usage` */
  readonly usage: string
  readonly place:
    | { readonly kind: 'folder'; readonly at: FolderPlace }
    | { readonly kind: 'archive'; readonly at: ArchivePlace }
    | { readonly kind: 'database'; readonly at: DatabasePlace }
}

const NONE = -1

/**
 * `left`: it is not read here: its database cannot be opened without waiting, or has been written to. `touched`: its database is as it was described, but
 * has been given another name, owner or mode, and must be described anew.
 */
export type PutOutcome = 'left' | 'put' | 'touched'
/** As putDatabaseSet answers. */
const PUT_OUTCOMES: readonly PutOutcome[] = ['left', 'put', 'touched']

/**
 * The tile sets that the native tier reads by itself where the response table has no tile: those for which the kernel has path and bytes in memory.
 * It answers what the table would answer, a tile or 304, and 404 where there is no such tile (once `setRefusal` was called for it); what it
 * cannot tell at once reaches the handler. Tiles that are asked for again it puts into the table, and looks at their files again after 10 s.
 *
 * Every call is synchronous. `ResponseTable.dropTiles` drops the sets of a basemap too, and `clear` all of them. The caller puts only what its own
 * look-up has found under the address at that moment.
 */
export class NativeTilesets {
  readonly #addon: ColdSetsAddon
  readonly #table: ResponseTable
  /** numbers of heads, by their texts */
  readonly #heads = new Map<string, number>()

  private constructor(addon: ColdSetsAddon, table: ResponseTable) {
    this.#addon = addon
    this.#table = table
  }

  /** null: this kernel, or what filters its calls, does not let it (openat2 with RESOLVE_CACHED: Linux 5.12). */
  static of(addon: ColdSetsAddon, table: ResponseTable): NativeTilesets | null {
    return addon.canReadColdTiles() ? new NativeTilesets(addon, table) : null
  }

  /** What became of it: `PutOutcome`. */
  put({ address, code, goodUntilMs, extensions, geographic, plain, packed, usage, place }: ColdSet): PutOutcome {
    const number = this.#table.numberOf(code)
    if (number === undefined) return 'left'
    const until = Math.trunc(goodUntilMs + NATIVE_CLOCK_OFFSET)
    const names = ` ${extensions.join(' ')} `
    const set: SetArguments = [
      address,
      number,
      until,
      names,
      geographic,
      this.#numberOfHeads(plain),
      this.#numberOfHeads(packed),
      usage,
    ]
    if (place.kind === 'archive') {
      const { id } = place.at
      if (this.#addon.putArchiveSet(...set, id)) return 'put'
      this.#putArchive(place.at)
      return this.#addon.putArchiveSet(...set, id) ? 'put' : 'left'
    }
    if (place.kind === 'database') {
      const { root, path, identity } = place.at
      return PUT_OUTCOMES[this.#addon.putDatabaseSet(...set, root, path, identity, wordsOf(place.at))] ?? 'left'
    }
    const { root, folder, extension, fromSouth } = place.at
    this.#addon.putFolderSet(...set, root, folder, extension, fromSouth)
    return 'put'
  }

  /**
   * That the set at this address, which is `code/current`, was just put, and is a layer of the WMTS: GetTile by key and value is then answered too.
   * `extension`: of the tiles' addresses.
   */
  putWmts(address: string, matrixSets: readonly string[], mediaType: string, extension: string): void {
    this.#addon.putWmts(address, ` ${matrixSets.join(' ')} `, mediaType, extension)
  }

  /** The zooms of the set at this address, which was just put, and what is answered where a tile is missing at another one, instead of `no such tile`. */
  putZooms(address: string, minZoom: number, maxZoom: number, beyond: FixedAnswer): void {
    this.#addon.putZooms(address, minZoom, maxZoom, headOfFixed(beyond), beyond.body)
  }

  /** A leaf directory that an archive's tile was found in; `offset` in the file. What is known already, and of unknown archives, is left as it is. */
  putLeaf(archive: number, offset: number, leaf: DirectoryColumns): void {
    this.#addon.putLeaf(archive, offset, ...bytesOf(leaf))
  }

  /** An extent of an archive that is elsewhere, and which of its blocks are here. Its descriptor is duplicated, for as long as its file has a name. */
  putExtent(
    archive: number,
    extent: { readonly index: number; readonly fd: number; readonly present: Uint8Array },
  ): void {
    this.#addon.putExtent(archive, extent.index, extent.fd, extent.present)
  }

  /** Lets go of the extents whose files have no name any more. To be called every few seconds. */
  forgetEvicted(): void {
    this.#addon.forgetEvicted()
  }

  /** Tiles that were found in extents since the start, and their bytes. */
  get placed(): { readonly tiles: number; readonly bytes: number } {
    const [tiles = 0, bytes = 0] = this.#addon.countPlaced()
    return { tiles, bytes }
  }

  #putArchive({ id, fd, extents, identity, modifiedMs, header, root }: ArchivePlace): void {
    const { minZoom, maxZoom, leaves, tiles } = header
    const { extentBytes = 0, blockBytes = 0 } = extents ?? {}
    const sections = Float64Array.of(leaves.offset, leaves.length, tiles.offset, tiles.length, extentBytes, blockBytes)
    const modified = Math.floor(modifiedMs / 1000)
    this.#addon.putArchive(id, fd, identity, modified, minZoom, maxZoom, asBytes(sections), ...bytesOf(root))
  }

  #numberOfHeads(heads: SetHeads | null): number {
    if (heads === null) return NONE
    const found = headOf('200 OK', [...heads.found, ['Content-Length', GAP]])
    const notModified = headOf('304 Not Modified', heads.notModified)
    const key = found + notModified
    const known = this.#heads.get(key)
    if (known !== undefined) return known
    const number = this.#addon.putHeads(found, notModified)
    this.#heads.set(key, number)
    return number
  }
}

function wordsOf({ id, modifiedMs, pageBytes, stamp, steps }: DatabasePlace): BigInt64Array {
  const { ino, size, mtimeNs, ctimeNs } = stamp
  const ofSteps = steps.flatMap(({ index, keys, table, column }) => [index, keys.length, ...keys, table, column])
  const about = [id, Math.floor(modifiedMs / 1000), pageBytes].map(BigInt)
  return BigInt64Array.from([...about, ino, size, mtimeNs, ctimeNs, ...ofSteps.map(BigInt)])
}

function bytesOf({ tileIds, runLengths, offsets, lengths }: DirectoryColumns): DirectoryBytes {
  return [asBytes(tileIds), asBytes(runLengths), asBytes(offsets), asBytes(lengths)]
}

function asBytes({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
