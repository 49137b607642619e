/** What `fs.stat` with `bigint: true` tells that names a file's content. */
export interface FileVersion {
  readonly ino: bigint
  readonly mtimeNs: bigint
  readonly size: bigint
}

/**
 * A short text that changes when a file is replaced or rewritten: inode, modification time (ns) and size in base 36. Safe inside a
 * strong ETag (RFC 9110, 8.8.3). The device number is left out: it differs between machines that share one network file system.
 */
export function fileIdentity(file: FileVersion): string {
  return `${file.ino.toString(36)}-${file.mtimeNs.toString(36)}-${file.size.toString(36)}`
}
