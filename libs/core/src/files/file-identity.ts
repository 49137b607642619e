/** The fields of `fs.stat` with `bigint: true` that identify the content of a file. */
export interface FileVersion {
  readonly ino: bigint
  readonly mtimeNs: bigint
  readonly size: bigint
}

/**
 * Returns a short text that changes when a file is replaced or rewritten: inode, modification time (ns) and size in base 36. Safe inside a
 * strong ETag (RFC 9110, 8.8.3). The device number is omitted, since it differs between machines that share a network file system.
 */
export function fileIdentity(file: FileVersion): string {
  return `${file.ino.toString(36)}-${file.mtimeNs.toString(36)}-${file.size.toString(36)}`
}
