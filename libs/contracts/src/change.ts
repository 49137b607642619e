/**
 * The change log: what edges must forget or fetch anew. One row for each change, in commit order, numbered by a revision without
 * gaps. `key` is, for a token, the hex SHA-256 digest; for a basemap, vector or style, its code; for `font`, which says that fonts of styles
 * are others, empty; for `signing_key`, which
 * says that the keys of signed addresses are others, empty; for `all`, empty: reload everything.
 */
export const CHANGE_KINDS = ['token', 'basemap', 'vector', 'style', 'font', 'signing_key', 'all'] as const
/** As the key of a basemap, which no code is: all of them, while tokens and vectors stay as they are. */
export const EVERY_BASEMAP = '*'
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export interface Change {
  readonly revision: number
  readonly kind: ChangeKind
  readonly key: string
}

/** A state of the change log. Numbers come again after a restore; the mark, random and new for each transaction, does not. */
export interface LogState {
  readonly revision: number
  readonly mark: string
}

/** A change with its transaction's mark, and the mark of the state that the transaction found. */
export interface LoggedChange extends Change {
  readonly mark: string
  readonly previousMark: string
}
