import fs from 'node:fs'

/**
 * Linux file systems that keep files on this machine (linux/magic.h, super.c of each). On all others, above all network file systems and FUSE,
 * even opening a file with a cached path may wait for a server that does not respond. Unknown file systems count as remote.
 */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0xca451a4e, // bcachefs
  0x3153464a, // JFS
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlayfs
  0x73717368, // squashfs
  0xe0f5e1e2, // EROFS
  0x9660, // ISO 9660
  0x4d44, // FAT
  0x2011bab0, // exFAT
])

/** True if `path` is on this machine's own disks. Rejects with the disk's error, and may take as long as the disk. */
export async function isOnLocalDisk(path: string): Promise<boolean> {
  return isLocal(await fs.promises.statfs(path))
}

/** Like `isOnLocalDisk`, for a process that may block. */
export function isOnLocalDiskSync(path: string): boolean {
  return isLocal(fs.statfsSync(path))
}

function isLocal({ type }: fs.StatsFs): boolean {
  // Some file systems have numbers above 2^31, which arrive as negative numbers.
  return LOCAL_TYPES.has(type >>> 0)
}
