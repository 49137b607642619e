import fs from 'node:fs'
import { pathToFileURL } from 'node:url'
import { type NotOpened, type OpenedFile, openBelow, openBelowSync } from '@gateway/files/open-below.js'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { BrokenArchiveError } from '../broken-archive.js'
import { readExactly, readExactlyLater } from '../read-exactly.js'
import { asArchiveError, isAboutAccess } from './sqlite-error.js'

/** Bytes of the file header that are looked at (SQLite file format, 1.3): the magic, and at 18 how it is journaled. */
const HEADER_BYTES = 20
const MAGIC = 'SQLite format 3\0'
const JOURNAL_BYTE = 18
const WRITE_AHEAD = 2

/**
 * Limit: bytes of one value. SQLite hands tiles over whole, in memory; the largest vector tiles of practice have some megabytes. What
 * is larger cannot be read at all, nor made up by a view.
 */
const MAX_VALUE_BYTES = 32 * 1024 * 1024

export interface OpenedDatabase {
  readonly ok: true
  readonly database: DatabaseSyncInstance
  /** names the content of the file and its write-ahead log */
  readonly identity: string
  readonly modifiedMs: number
  /** bytes */
  readonly size: number
}

/**
 * Opens an SQLite file below `root` for reading only, and writes nothing beside it unless a program left a write-ahead log there.
 * Throws `BrokenArchiveError` for what is no readable database, and the disk's errors.
 */
export function openDatabase(root: string, file: string): OpenedDatabase | NotOpened {
  const opened = openBelowSync(root, file)
  if (!opened.ok) return opened
  let writeAhead: boolean
  try {
    writeAhead = readsWriteAhead(readExactly(opened.fd, 0, Math.min(HEADER_BYTES, opened.size)))
  } finally {
    fs.closeSync(opened.fd)
  }
  const log = writeAhead ? fs.statSync(walOf(opened), { bigint: true, throwIfNoEntry: false }) : undefined
  return connectTo(opened, writeAhead, log)
}

/** `openDatabase` that holds the event loop only while SQLite reads the schema, after it has been seen that the disk answers. */
export async function openDatabaseLater(root: string, file: string): Promise<OpenedDatabase | NotOpened> {
  const opened = await openBelow(root, file)
  if (!opened.ok) return opened
  let writeAhead: boolean
  try {
    writeAhead = readsWriteAhead(await readExactlyLater(opened.fd, 0, Math.min(HEADER_BYTES, opened.size)))
  } finally {
    fs.close(opened.fd, () => {})
  }
  return connectTo(opened, writeAhead, writeAhead ? await statIfThere(walOf(opened)) : undefined)
}

function walOf(opened: OpenedFile): string {
  return `${opened.realPath}-wal`
}

function statIfThere(file: string): Promise<fs.BigIntStats | undefined> {
  return fs.promises.stat(file, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

function connectTo(opened: OpenedFile, writeAhead: boolean, log: fs.BigIntStats | undefined): OpenedDatabase {
  const hasLog = log !== undefined && log.size > 0n
  return {
    ok: true,
    database: openReadOnly(opened.realPath, writeAhead && !hasLog),
    identity: hasLog ? `${opened.identity}-${log.mtimeNs.toString(36)}-${log.size.toString(36)}` : opened.identity,
    modifiedMs: hasLog ? Math.max(opened.mtimeMs, Number(log.mtimeMs)) : opened.mtimeMs,
    size: opened.size,
  }
}

function readsWriteAhead(header: Buffer): boolean {
  if (!header.toString('latin1').startsWith(MAGIC) || header.length < HEADER_BYTES) {
    throw new BrokenArchiveError('this is not an SQLite database')
  }
  return header[JOURNAL_BYTE] === WRITE_AHEAD
}

/**
 * `immutable` spares SQLite its locks and side files. It is right where nobody writes: a database in write-ahead mode without a log, and
 * the last resort where locks or side files are impossible (read-only folder, some network file systems).
 */
function openReadOnly(path: string, immutable: boolean): DatabaseSyncInstance {
  const address = pathToFileURL(path).href
  if (!immutable) {
    try {
      return connect(`${address}?mode=ro`)
    } catch (error) {
      if (!isAboutAccess(error)) throw asArchiveError(error)
    }
  }
  try {
    return connect(`${address}?mode=ro&immutable=1`)
  } catch (error) {
    throw asArchiveError(error)
  }
}

/** SQLite opens lazily: only the first query shows whether the file can be read. */
function connect(address: string): DatabaseSyncInstance {
  const database = new DatabaseSync(address, { readOnly: true, limits: { length: MAX_VALUE_BYTES } })
  try {
    // The schema comes with the file: functions with side effects may not be called from its views.
    database.exec('PRAGMA trusted_schema = OFF; SELECT count(*) FROM sqlite_schema')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
