export interface BundleFile {
  /** with forward slashes, in the layout of a scan source, so that a scan can read the unpacked files */
  readonly name: string
  /** absolute path on this machine */
  readonly path: string
}

/** Files to deliver, with their places below a receiver's directory. */
export interface Bundle {
  /** no file outside of it is read */
  readonly root: string
  /** `folder`: `place` is a directory with only these files. `files`: they share their directories with others. */
  readonly kind: 'folder' | 'files'
  readonly place: string
  /** code of the delivered resource, in ASCII; names the archive if `place` has other letters */
  readonly code: string
  /** true if compression pays; tiles and tile archives are compressed already */
  readonly compressible: boolean
  /** For tiles in folders that one archive can hold: writes it as `file`, for receivers that cannot take a million files at once. */
  readonly asArchive?: { readonly name: string; write(file: string, signal: AbortSignal): Promise<void> }
  /** For files in object storage: fetches them for one attempt, and returns the bundle to send. `release` removes them after the attempt. */
  prepare?(signal: AbortSignal): Promise<Bundle & { release(): Promise<void> }>
  /** listed during the reading, one folder at a time, since a version may have millions; the order is always the same */
  files(): AsyncIterable<BundleFile>
}
