import type { LayoutText } from '../page-layout.js'

/**
 * What passes between a process that serves tiles and one that reads MBTiles for it, over the reader's standard input and output: words of
 * 32 bits, little end first. Tiles are many and their bytes most of it, so no general serialization.
 */

/** A request: `[what, id, archive, a, b, c]`. */
export const REQUEST_BYTES = 24

/** Of `REGISTER`, a is the length of the JSON text `[root, file]` behind it; of `TILE`, a, b, c are z, x, y; `FORGET` has none. */
export const Request = { REGISTER: 1, TILE: 2, FORGET: 3 } as const

/** An answer: `[what, id, length]`, and so many bytes. Tiles are answered in the order of their requests. */
export const ANSWER_BYTES = 12

/**
 * `OPENED` comes before the first answer from an archive: its id is the archive's, its text `OpenedText`. The text of `FAILED` is
 * `FailedText`. `GZIP_TILE` is a tile whose bytes are gzip. `ABSENT`: there is no such tile, or no such file. `STARTED` is the first of all.
 */
export const Answer = { TILE: 1, ABSENT: 2, FAILED: 3, OPENED: 4, STARTED: 5, GZIP_TILE: 6 } as const

export interface OpenedText {
  readonly identity: string
  readonly modifiedMs: number
  readonly layout: LayoutText | null
}

export interface FailedText {
  /** the archive is to blame, not the disk */
  readonly broken: boolean
  /** a program that writes to the archive keeps readers out, as every commit does for a moment */
  readonly locked: boolean
  readonly message: string
}
