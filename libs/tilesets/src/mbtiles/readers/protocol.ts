import type { LayoutText } from '../page-layout.js'

/**
 * The protocol between a process that serves tiles and one that reads MBTiles for it, over the reader's standard input and output: words of
 * 32 bits, little-endian. Tiles are many, and consist mostly of bytes, so there is no general serialisation.
 */

/** A request: `[what, id, archive, a, b, c]`. */
export const REQUEST_BYTES = 24

/**
 * For `REGISTER`, a is the length of the JSON text `[root, file]` behind it. For `TILE` and `LOOK`, a, b, c are z, x, y. `FORGET` has none.
 * `LOOK` is answered as `TILE`, without the bytes.
 */
export const Request = { REGISTER: 1, TILE: 2, FORGET: 3, LOOK: 4 } as const

/** Length of a response's head: `[what, id, length]`. `length` bytes follow. Tiles are returned in the order of their requests. */
export const ANSWER_BYTES = 12

/**
 * `OPENED` comes before the first response from an archive, with the archive's id and an `OpenedText`. `FAILED` has a
 * `FailedText`.  `ABSENT`: the tile or file does not exist. `STARTED` is the first response.
 */
export const Answer = { TILE: 1, ABSENT: 2, FAILED: 3, OPENED: 4, STARTED: 5 } as const

export interface OpenedText {
  readonly identity: string
  readonly modifiedMs: number
  readonly layout: LayoutText | null
}

export interface FailedText {
  /** true if the archive is the cause, not the disk */
  readonly broken: boolean
  /** true if a program that writes the archive locks readers out, as every commit does for a moment */
  readonly locked: boolean
  readonly message: string
}
