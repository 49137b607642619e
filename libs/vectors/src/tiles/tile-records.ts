/**
 * The record of one feature in one tile, as 32-bit integers: [words of the record, fid, layer, type, size, id (2), words of attributes, words of
 * commands], the attributes as in the file of features, the commands as in the tile.
 */
export const RECORD_HEAD = 9
export const SIZE_AT = 4
export const ID_AT = 5
export const TAG_WORDS_AT = 7
export const COMMANDS_AT = 8

/** Number of words allocated at first, if the limit allows it. */
export const FIRST_WORDS = 1024 * 1024

/** The records of one tile: `offsets` are their positions in `words`. */
export interface TileRecords {
  readonly tileId: number
  readonly words: Int32Array
  readonly offsets: readonly number[]
}
