/**
 * What one tile has of one feature, in whole numbers of 32 bits: [words of the record, fid, layer, type, size, id (2), words of attributes, words of
 * commands], the attributes as in the file of features, the commands as in the tile.
 */
export const RECORD_HEAD = 9
export const SIZE_AT = 4
export const ID_AT = 5
export const TAG_WORDS_AT = 7
export const COMMANDS_AT = 8

/** Words that are taken at first, if so many are allowed. */
export const FIRST_WORDS = 1024 * 1024

/** The records of one tile: `offsets` says where they begin in `words`. */
export interface TileRecords {
  readonly tileId: number
  readonly words: Int32Array
  readonly offsets: readonly number[]
}
