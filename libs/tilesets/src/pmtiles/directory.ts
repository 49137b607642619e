import { BrokenArchiveError } from '../broken-archive.js'

/** A decoded directory in columns: 28 bytes for each entry, where objects would take 100. Tile numbers are strictly ascending. */
export interface Directory {
  readonly tileIds: Float64Array
  /** 0: the entry points to a leaf directory */
  readonly runLengths: Float64Array
  readonly offsets: Float64Array
  readonly lengths: Uint32Array
}

/** Every entry takes at least one byte in each of the four columns, which limits the memory for a hostile count. */
const MIN_ENTRY_BYTES = 4

/** Maximum bytes of one tile or leaf, which is also that of one read. */
const MAX_ENTRY_LENGTH = 2 ** 31 - 1

/** Returns the memory of a decoded directory, in bytes. */
export function directoryBytes(directory: Directory): number {
  return directory.tileIds.length * 28
}

/** Decodes an uncompressed directory (PMTiles 3, section 4). Throws `BrokenArchiveError` for invalid content. */
export function decodeDirectory(bytes: Uint8Array): Directory {
  const reader = new VarintReader(bytes)
  const count = reader.next()
  if (count === 0 || count * MIN_ENTRY_BYTES > bytes.length) throw broken('has a wrong number of entries')
  const directory: Directory = {
    tileIds: new Float64Array(count),
    runLengths: new Float64Array(count),
    offsets: new Float64Array(count),
    lengths: new Uint32Array(count),
  }
  readTileIds(reader, directory.tileIds)
  for (let i = 0; i < count; i++) directory.runLengths[i] = reader.next()
  for (let i = 0; i < count; i++) {
    const length = reader.next()
    if (length === 0 || length > MAX_ENTRY_LENGTH) throw broken('has an entry of impossible length')
    directory.lengths[i] = length
  }
  readOffsets(reader, directory)
  return directory
}

/** Finds the entry that covers a tile number: the last one at or before it, if it is a leaf or its run is long enough. -1: none. */
export function findEntry(directory: Directory, tileId: number): number {
  const { tileIds, runLengths } = directory
  let low = 0
  let high = tileIds.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    if (tileIds[middle]! <= tileId) low = middle + 1
    else high = middle - 1
  }
  if (high < 0) return -1
  const run = runLengths[high]!
  return run === 0 || tileId - tileIds[high]! < run ? high : -1
}

function readTileIds(reader: VarintReader, tileIds: Float64Array): void {
  let id = 0
  for (let i = 0; i < tileIds.length; i++) {
    const step = reader.next()
    if (step === 0 && i > 0) throw broken('names a tile twice')
    id += step
    if (!Number.isSafeInteger(id)) throw broken('has a tile number out of range')
    tileIds[i] = id
  }
}

/** An offset is stored plus one; 0 means "directly after the previous entry". */
function readOffsets(reader: VarintReader, { offsets, lengths }: Directory): void {
  for (let i = 0; i < offsets.length; i++) {
    const written = reader.next()
    if (written === 0 && i === 0) throw broken('has a first entry without an offset')
    const offset = written === 0 ? offsets[i - 1]! + lengths[i - 1]! : written - 1
    if (!Number.isSafeInteger(offset)) throw broken('has an offset out of range')
    offsets[i] = offset
  }
}

/** Reads successive unsigned LEB128 numbers. Unlike the reader of the pmtiles package, it checks the end of the bytes. */
class VarintReader {
  readonly #bytes: Uint8Array
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  next(): number {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = this.#bytes[this.#position++]
      if (byte === undefined) throw broken('ends in the middle')
      value += (byte & 0x7f) * scale
      if (value > Number.MAX_SAFE_INTEGER) throw broken('has a number out of range')
      if (byte < 0x80) return value
      scale *= 128
    }
  }
}

function broken(what: string): BrokenArchiveError {
  return new BrokenArchiveError(`a directory of the archive ${what}`)
}
