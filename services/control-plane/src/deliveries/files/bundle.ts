export interface BundleFile {
  /** with forward slashes, in the layout of a scan source: what is unpacked into one can be scanned there */
  readonly name: string
  /** absolute, on this machine */
  readonly path: string
}

/** Files to deliver, and where they belong below a receiver's directory. */
export interface Bundle {
  /** no file outside of it is read */
  readonly root: string
  /** `folder`: `place` is a directory that holds these files and no others. `files`: they lie beside others in their directories. */
  readonly kind: 'folder' | 'files'
  readonly place: string
  /** of what is delivered, in ASCII: names the archive if `place` has other letters */
  readonly code: string
  /** whether packing is worth it: tiles and tile archives are compressed already */
  readonly compressible: boolean
  /** Of tiles in folders, where one archive can hold them: writes it as `file`. For receivers that cannot take a million files at once. */
  readonly asArchive?: { readonly name: string; write(file: string, signal: AbortSignal): Promise<void> }
  /** Its files are in object storage: fetches them, for one attempt, which gives them back after it. The bundle that it answers is the one to send. */
  prepare?(signal: AbortSignal): Promise<Bundle & { release(): Promise<void> }>
  /** listed while it is read, one folder at a time: a version may have millions; the same order every time */
  files(): AsyncIterable<BundleFile>
}
