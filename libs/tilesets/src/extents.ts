/**
 * A file of another place, as far as it is here: cut into extents of equal length, each a file that holds its blocks at their places and nothing
 * where one has not come yet. What has come never changes, and an extent that makes room for others only loses its name.
 */
export interface FileInExtents {
  /** bytes */
  readonly extentBytes: number
  readonly blockBytes: number
  /** The extents that a section lies in, as far as they are open; to be used at once. */
  of(section: { readonly offset: number; readonly length: number }): Iterable<OpenExtent>
}

export interface OpenExtent {
  /** 0: the one that the file begins with */
  readonly index: number
  readonly fd: number
  /** 1 for each block that is here */
  readonly present: Uint8Array
}
