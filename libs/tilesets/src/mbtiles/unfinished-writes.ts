import fs from 'node:fs'

/** A file next to a database with changes that the database does not have yet, or must lose again. */
export type UnfinishedWrites = 'journal' | 'log'

/**
 * Returns the kind of file that a writer left next to a database or is using now: a rollback journal, without which the pages may hold changes that
 * were never committed, or a write-ahead log with changes that the pages lack. null: the file is complete by itself. SQLite ignores empty files, and
 * a journal whose first byte is zero (its modes TRUNCATE and PERSIST), and so does this function.
 * @param file path of the database, with symbolic links resolved as SQLite does
 */
export function unfinishedWrites(file: string): UnfinishedWrites | null {
  if (isHot(`${file}-journal`)) return 'journal'
  return (fs.statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0 ? 'log' : null
}

function isHot(journal: string): boolean {
  let fd: number
  try {
    fd = fs.openSync(journal, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
  try {
    // SQLite cannot open a database whose journal is a folder.
    if (fs.fstatSync(fd).isDirectory()) return true
    const first = Buffer.alloc(1)
    return fs.readSync(fd, first, 0, 1, 0) === 1 && first[0] !== 0
  } finally {
    fs.closeSync(fd)
  }
}

/** True if a file is a database with unfinished writes, without blocking the event loop. @param file as in `unfinishedWrites` */
export async function hasUnfinishedWrites(file: string): Promise<boolean> {
  if (!/\.(mbtiles|gpkg)$/i.test(file)) return false
  const sizes = await Promise.all(
    ['-journal', '-wal'].map((name) => fs.promises.stat(`${file}${name}`).catch(() => null)),
  )
  if ((sizes[1]?.size ?? 0) > 0) return true
  if ((sizes[0]?.size ?? 0) === 0) return false
  const journal = await fs.promises
    .open(`${file}-journal`, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    .catch(() => null)
  if (journal === null) return false
  try {
    if ((await journal.stat()).isDirectory()) return true
    const { bytesRead, buffer } = await journal.read(Buffer.alloc(1), 0, 1, 0)
    return bytesRead === 1 && buffer[0] !== 0
  } finally {
    await journal.close()
  }
}
