/**
 * The local part of a remote file: extents of equal length, each a sparse file with the fetched blocks at their positions. A fetched block never
 * changes, and an evicted extent only loses its name.
 */
export interface FileInExtents {
  /** bytes */
  readonly extentBytes: number
  readonly blockBytes: number
  /** Returns the open extents of a section. They must be used at once. */
  of(section: { readonly offset: number; readonly length: number }): Iterable<OpenExtent>
}

export interface OpenExtent {
  /** 0: the first extent of the file */
  readonly index: number
  readonly fd: number
  /** 1 for each fetched block */
  readonly present: Uint8Array
}
