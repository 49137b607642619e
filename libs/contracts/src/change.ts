/**
 * Kinds of entries in the change log, which tells edges what to drop or fetch again. One row for each change, in commit order, numbered by a
 * revision without gaps. `key` is the hex SHA-256 digest of a token, or the code of a basemap, vector or style. It is empty for `font` (fonts of
 * styles have changed), `signing_key` (keys of signed URLs have changed) and `all` (reload everything).
 */
export const CHANGE_KINDS = ['token', 'basemap', 'vector', 'style', 'font', 'signing_key', 'all'] as const
/** Key of a basemap change that means all basemaps, while tokens and vectors stay cached. Earlier versions write it. It is not a valid code. */
export const EVERY_BASEMAP = '*'
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export interface Change {
  readonly revision: number
  readonly kind: ChangeKind
  readonly key: string
}

/** A state of the change log. After a restore, revisions repeat. Marks never do: each is random and belongs to one transaction. */
export interface LogState {
  readonly revision: number
  readonly mark: string
}

/** A change with the mark of its transaction, and the mark of the previous state. */
export interface LoggedChange extends Change {
  readonly mark: string
  readonly previousMark: string
}
