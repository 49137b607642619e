import { NATIVE_CLOCK_OFFSET, type ResponseTable } from '../hot-tiles/response-table.js'
import { type FixedAnswer, headOf, headOfFixed, type ResponseHeaders } from '../hot-tiles/responses.js'

/** Exports of native/cold_tiles/cold_sets_addon.cc, which documents them. */
export interface ColdSetsAddon {
  canReadColdTiles(): boolean
  putHeads(found: string, notModified: string): number
  putFolderSet(
    ...set: [
      ...SetArguments,
      root: string,
      folder: string,
      extension: string,
      fromSouth: boolean,
      form: number,
      levels: Uint8Array,
      keptMs: number,
      oldBefore: number,
    ]
  ): void
  putBundleSet(...set: [...SetArguments, id: number, root: string, folder: string, levels: Uint8Array]): void
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
    head: Uint8Array,
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
  bits: number,
  plain: number,
  packed: number,
  usage: string,
  mediaType: string,
  isImage: boolean,
]
type DirectoryBytes = [ids: Uint8Array, runs: Uint8Array, offsets: Uint8Array, lengths: Uint8Array]

/** Placeholder in a field's value for the part that differs between tiles. */
export const GAP = '\u0001'

/** Fields of the responses for the tiles of a set, SERVER_MARK included: of a 200 except Content-Length and Date, and of a 304. */
export interface SetHeads {
  /** Has one GAP for Content-Type, one for the entity tag and one for Last-Modified, in that order. */
  readonly found: ResponseHeaders
  readonly notModified: ResponseHeaders
}

/** Layouts of a folder, in the order of the numbers of native/cold_tiles/tile_names.h. */
const FORMS = ['xyz', 'tc', 'mp', 'arcgis', 'quadkey', 'zyx'] as const
/** Marks a zoom without a level. */
const NO_LEVEL = 0xff

/** Tiles that a folder stores as `{folder}/{z}/{x}/{y}.{extension}`, or in another layout. Only for local file systems. */
export interface FolderPlace {
  /** Absolute path of the directory outside of which nothing is read. */
  readonly root: string
  /** Path below the root: empty, or with a slash at its end. */
  readonly folder: string
  readonly extension: string
  /** True if rows are counted from the south (TMS). */
  readonly fromSouth: boolean
  readonly form: (typeof FORMS)[number]
  /** Level of each zoom that the set has; null: each zoom is its own level. */
  readonly levels: ReadonlyMap<number, number> | null
  /**
   * For tiles that are fetched or made: the time in ms for which a file is current after its last change, and the time, in ms since 1970, before which
   * files are old. JavaScript answers for others, and for missing ones. The heads may have a GAP for the seconds behind that for the entity tag.
   */
  readonly kept?: { readonly ttlMs: number; readonly oldBeforeMs: number }
}

/** The bundles of an Esri compact cache in a folder. Only for local file systems. */
export interface BundlesPlace extends Pick<FolderPlace, 'root' | 'folder'> {
  /** Identifies the content in this process. */
  readonly id: number
  /** Level of each zoom that the set has. */
  readonly levels: ReadonlyMap<number, number>
}

/** A decoded directory of a PMTiles archive: columns in the order of the tiles' numbers. A run of 0 points to a leaf directory. */
export interface DirectoryColumns {
  readonly tileIds: Float64Array
  readonly runLengths: Float64Array
  readonly offsets: Float64Array
  readonly lengths: Uint32Array
}

/** A PMTiles archive that was opened and checked. Only for local file systems. */
export interface ArchivePlace {
  /** Identifies the content in this process. */
  readonly id: number
  /** Descriptor of the archive, which is duplicated. -1 for a remote archive, whose cached parts are put by `putExtent`. */
  readonly fd: number
  readonly extents?: { readonly extentBytes: number; readonly blockBytes: number }
  /** Identity of the file's content: letters, digits and hyphens. */
  readonly identity: string
  readonly modifiedMs: number
  readonly header: {
    readonly minZoom: number
    readonly maxZoom: number
    readonly leaves: { readonly offset: number; readonly length: number }
    readonly tiles: { readonly offset: number; readonly length: number }
  }
  readonly root: DirectoryColumns
  /** Bytes to put before each tile. */
  readonly head?: Uint8Array
}

/** Look-up of one row of a database, by an index or by the row's number. */
export interface DatabaseStep {
  /** Root page of the index; 0 if the only key is the row's number. */
  readonly index: number
  /** One key for each column of the index, in its order: 0 the level, 1 the column, 2 the row, 3 the result of the previous step. */
  readonly keys: readonly number[]
  /** Root page of the table; 0 if the index contains whole rows. */
  readonly table: number
  /** Position in the record of the column that is read. */
  readonly column: number
}

/** A zoom of the grid as a GeoPackage stores it, with the place of the first stored tile in the grid. */
export interface DatabaseZoom {
  readonly zoom: number
  readonly level: number
  readonly column: number
  readonly row: number
}

/** An archive of MBTiles or a table of a GeoPackage that SQLite has opened, without locks and without a journal. Only for local file systems. */
export interface DatabasePlace {
  /** Identifies the content in this process. */
  readonly id: number
  /** Absolute path of the directory outside of which nothing is read. */
  readonly root: string
  /** Path below the root. */
  readonly path: string
  /** Identity of the file's content: letters, digits and hyphens. */
  readonly identity: string
  readonly modifiedMs: number
  readonly pageBytes: number
  /** State of the file when SQLite read it; times in nanoseconds since 1970. */
  readonly stamp: { readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint; readonly ctimeNs: bigint }
  /** Rows of these zooms are counted from the north; null: levels are zooms, and rows are counted from the south (MBTiles). */
  readonly zooms: readonly DatabaseZoom[] | null
  /** The last step returns the tile's bytes. */
  readonly steps: readonly DatabaseStep[]
}

/** Limit: bytes of a tile that is read from a database here, equal to kMaxTile of native/cold_tiles/tile_database.h. */
export const DATABASE_TILE_BYTES = 512 * 1024

export interface ColdSet {
  /** Part of the address between `/tiles/` and the zoom: `code/version` or `code`; of a vector `vectors/{code}/tiles`. */
  readonly address: string
  /** The basemap that a token must be granted. `ResponseTable.dropTiles` drops the set by this code. */
  readonly code: string
  /** Time of `performance.now()` in ms until which the set may be used. */
  readonly goodUntilMs: number
  /** Extensions in an address that name these tiles. */
  readonly extensions: readonly string[]
  /** True if zoom 0 has two columns. */
  readonly geographic: boolean
  /** True if JavaScript answers tokens with an area, because it cuts each tile. Default: false */
  readonly isCut?: boolean
  /** Heads for tiles that are stored uncompressed (`plain`) and as gzip (`packed`). The first bytes of each tile decide. */
  readonly plain: SetHeads
  readonly packed: SetHeads
  /** Media type of vector tiles, and of images whose first bytes tell none. */
  readonly mediaType: string
  readonly isImage: boolean
  /** Name under which responses are counted, in addition to the token; see `TileResponse.usage`. */
  readonly usage: string
  readonly place:
    | { readonly kind: 'folder'; readonly at: FolderPlace }
    | { readonly kind: 'archive'; readonly at: ArchivePlace }
    | { readonly kind: 'bundles'; readonly at: BundlesPlace }
    | { readonly kind: 'database'; readonly at: DatabasePlace }
}

/**
 * `left`: the set is not read here, because its levels have no possible numbers, or its database cannot be opened without waiting, or was written to. `touched`: the database has the
 * described content, but its name, owner or mode has changed, so it must be described again.
 */
export type PutOutcome = 'left' | 'put' | 'touched'
/** The numbers that putDatabaseSet returns are indexes of this list. */
const PUT_OUTCOMES: readonly PutOutcome[] = ['left', 'put', 'touched']

/**
 * The tile sets that the native tier reads itself if the response table does not have the tile and the kernel has its path and bytes in memory. It
 * sends the same responses as the table: a tile or 304, and 404 if no such tile exists (once `setRefusal` was called for it). Requests that cannot be
 * decided at once reach the handler. Tiles that are requested again are put into the table, and their files are checked again after 10 s.
 *
 * Every call is synchronous. `ResponseTable.dropTiles` also drops the sets of a basemap, and `clear` drops all sets. The caller puts only sets that
 * its own look-up has found under the address at that moment.
 */
export class NativeTilesets {
  readonly #addon: ColdSetsAddon
  readonly #table: ResponseTable
  /** Numbers of heads by their texts. */
  readonly #heads = new Map<string, number>()

  private constructor(addon: ColdSetsAddon, table: ResponseTable) {
    this.#addon = addon
    this.#table = table
  }

  /** Returns null if the kernel or a filter of its system calls does not support it (openat2 with RESOLVE_CACHED: Linux 5.12). */
  static of(addon: ColdSetsAddon, table: ResponseTable): NativeTilesets | null {
    return addon.canReadColdTiles() ? new NativeTilesets(addon, table) : null
  }

  put({
    address,
    code,
    goodUntilMs,
    extensions,
    geographic,
    isCut = false,
    plain,
    packed,
    usage,
    mediaType,
    isImage,
    place,
  }: ColdSet): PutOutcome {
    const number = this.#table.numberOf(code)
    if (number === undefined || !hasPossibleLevels(place)) return 'left'
    const until = Math.trunc(goodUntilMs + NATIVE_CLOCK_OFFSET)
    const names = ` ${extensions.join(' ')} `
    const set: SetArguments = [
      address,
      number,
      until,
      names,
      (geographic ? 1 : 0) | (isCut ? 2 : 0),
      this.#numberOfHeads(plain),
      this.#numberOfHeads(packed),
      usage,
      mediaType,
      isImage,
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
    if (place.kind === 'bundles') {
      const { id, root, folder, levels } = place.at
      this.#addon.putBundleSet(...set, id, root, folder, bytesOfLevels(levels))
      return 'put'
    }
    const { root, folder, extension, fromSouth, form, levels, kept } = place.at
    const of = [root, folder, extension, fromSouth, FORMS.indexOf(form), bytesOfLevels(levels)] as const
    this.#addon.putFolderSet(...set, ...of, Math.trunc(kept?.ttlMs ?? 0), Math.ceil(kept?.oldBeforeMs ?? 0))
    return 'put'
  }

  /**
   * Must follow the `put` of the set at this address, `code/current`, if it is a layer of the WMTS. GetTile requests in key-value form are then
   * answered too. `extension` is that of the tiles' addresses.
   */
  putWmts(address: string, matrixSets: readonly string[], mediaType: string, extension: string): void {
    this.#addon.putWmts(address, ` ${matrixSets.join(' ')} `, mediaType, extension)
  }

  /**
   * Must follow the `put` of the set at this address. Sets its zooms, and the response for a missing tile at any other zoom, which replaces that for
   * `no such tile`.
   */
  putZooms(address: string, minZoom: number, maxZoom: number, beyond: FixedAnswer): void {
    this.#addon.putZooms(address, minZoom, maxZoom, headOfFixed(beyond), beyond.body)
  }

  /**
   * Adds a leaf directory of an archive in which a tile was found; `offset` is its position in the file. Ignores leaves that are already known and
   * those of unknown archives.
   */
  putLeaf(archive: number, offset: number, leaf: DirectoryColumns): void {
    this.#addon.putLeaf(archive, offset, ...bytesOf(leaf))
  }

  /**
   * Adds an extent of a remote archive, and the blocks of it that are on this machine. Its descriptor is duplicated and kept as long as its file has
   * a name.
   */
  putExtent(
    archive: number,
    extent: { readonly index: number; readonly fd: number; readonly present: Uint8Array },
  ): void {
    this.#addon.putExtent(archive, extent.index, extent.fd, extent.present)
  }

  /** Releases the extents whose files have no name any more. Must be called every few seconds. */
  forgetEvicted(): void {
    this.#addon.forgetEvicted()
  }

  /** Number and bytes of the tiles that were found in extents since the start. */
  get placed(): { readonly tiles: number; readonly bytes: number } {
    const [tiles = 0, bytes = 0] = this.#addon.countPlaced()
    return { tiles, bytes }
  }

  #putArchive({ id, fd, extents, identity, modifiedMs, header, head, root }: ArchivePlace): void {
    const { minZoom, maxZoom, leaves, tiles } = header
    const { extentBytes = 0, blockBytes = 0 } = extents ?? {}
    const sections = Float64Array.of(leaves.offset, leaves.length, tiles.offset, tiles.length, extentBytes, blockBytes)
    const modified = Math.floor(modifiedMs / 1000)
    const lead = head ?? new Uint8Array(0)
    this.#addon.putArchive(id, fd, identity, modified, minZoom, maxZoom, asBytes(sections), lead, ...bytesOf(root))
  }

  #numberOfHeads(heads: SetHeads): number {
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

function wordsOf({ id, modifiedMs, pageBytes, stamp, zooms, steps }: DatabasePlace): BigInt64Array {
  const { ino, size, mtimeNs, ctimeNs } = stamp
  const ofSteps = steps.flatMap(({ index, keys, table, column }) => [index, keys.length, ...keys, table, column])
  const described = zooms ?? []
  const ofZooms = [described.length, ...described.flatMap(({ zoom, level, column, row }) => [zoom, level, column, row])]
  const about = [id, Math.floor(modifiedMs / 1000), pageBytes].map(BigInt)
  return BigInt64Array.from([...about, ino, size, mtimeNs, ctimeNs, ...[...ofZooms, ...ofSteps].map(BigInt)])
}

/** False if a description of a hostile archive has levels or matrices that no number here can hold. */
function hasPossibleLevels(place: ColdSet['place']): boolean {
  if (place.kind === 'archive') return true
  if (place.kind === 'database')
    return (place.at.zooms ?? []).every((zoom) => Object.values(zoom).every(Number.isSafeInteger))
  return [...(place.at.levels?.values() ?? [])].every(
    (level) => Number.isInteger(level) && level >= 0 && level < NO_LEVEL,
  )
}

function bytesOfLevels(levels: ReadonlyMap<number, number> | null): Uint8Array {
  const length = levels === null ? 0 : Math.max(0, ...levels.keys()) + 1
  return Uint8Array.from({ length }, (_, z) => levels?.get(z) ?? NO_LEVEL)
}

function bytesOf({ tileIds, runLengths, offsets, lengths }: DirectoryColumns): DirectoryBytes {
  return [asBytes(tileIds), asBytes(runLengths), asBytes(offsets), asBytes(lengths)]
}

function asBytes({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
