import fs from 'node:fs'
import { pathToFileURL } from 'node:url'
import { sentence } from '@gateway/contracts/messages.js'
import { fileIdentity, type NotOpened, type OpenedFile, openBelowSync } from '@gateway/core/files/open-below.js'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { BrokenArchiveError } from '../broken-archive.js'
import { asArchiveError, isAboutAccess } from './sqlite-error.js'
import { type UnfinishedWrites, unfinishedWrites } from './unfinished-writes.js'

/** The file header (SQLite file format, 1.3), its magic, and the positions of the fields that are read. */
const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'
const PAGE_SIZE_AT = 16
const JOURNAL_AT = 18
const WRITE_AHEAD = 2
const CHANGES_AT = 24
const PAGES_AT = 28
const PAGES_VALID_FOR_AT = 92
const RESERVED_AT = 20

/**
 * Maximum bytes of one value. SQLite returns whole tiles in memory; the largest vector tiles in practice have some megabytes. A
 * larger value cannot be read at all, nor produced by a view.
 */
const MAX_VALUE_BYTES = 32 * 1024 * 1024

export interface OpenedDatabase {
  readonly ok: true
  readonly database: DatabaseSyncInstance
  /** identifies the content of the file and its write-ahead log */
  readonly identity: string
  readonly modifiedMs: number
  /** bytes */
  readonly size: number
  /**
   * State of the file now, as far as its times tell. `written`: `identity` no longer matches. `replaced`: it was replaced or unlinked, and the open file
   * is still readable.
   */
  readonly fate: () => 'same' | 'written' | 'replaced'
  /** null: only SQLite can read it, because there is a log next to the pages, or it reads without locks */
  readonly pages: DatabasePages | null
}

/** The file of a database, in its state just before SQLite opened it. */
export interface DatabasePages {
  readonly realPath: string
  readonly pageBytes: number
  /** reserved part of each page */
  readonly reservedBytes: number
  readonly stamp: FileStamp
}

/** Changes when a file is written, replaced or unlinked. Times are nanoseconds since 1970, to the precision of the file system and the kernel's timer. */
export interface FileStamp {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/**
 * Opens an SQLite file below `root` for reading only, and writes nothing next to it unless a program left a write-ahead log there. Must run in a
 * process that can be killed: even opening reads the disk and the content of the file. Throws `BrokenArchiveError` for a file that is not a readable
 * database, and the disk's errors.
 */
export function openDatabase(root: string, file: string): OpenedDatabase | NotOpened {
  const opened = openBelowSync(root, file)
  if (!opened.ok) return opened
  const header = Buffer.alloc(HEADER_BYTES)
  let length: number
  let stamp: FileStamp
  try {
    length = fs.readSync(opened.fd, header, 0, HEADER_BYTES, 0)
    stamp = fs.fstatSync(opened.fd, { bigint: true })
  } finally {
    fs.closeSync(opened.fd)
  }
  if (!header.toString('latin1').startsWith(MAGIC) || length < HEADER_BYTES) {
    throw new BrokenArchiveError(sentence('said.no_sqlite'))
  }
  const writeAhead = header[JOURNAL_AT] === WRITE_AHEAD
  const log = writeAhead ? logOf(opened.realPath) : undefined
  // While a writer works, header and size belong together only for the holder of its lock.
  const isBeingWritten = log !== undefined || fs.existsSync(`${opened.realPath}-journal`)
  if (!isBeingWritten && opened.size < sizeBy(header)) {
    throw new BrokenArchiveError(sentence('said.file_cut_off'))
  }
  const connected = connectTo(opened, writeAhead, log)
  const { realPath } = opened
  const mayReadPages = !writeAhead && !connected.immutable
  const pages = { realPath, pageBytes: pageSizeBy(header), reservedBytes: header[RESERVED_AT] as number, stamp }
  const fate = () => {
    const now = statOf(realPath)
    if (now?.ino !== stamp.ino) return 'replaced'
    const identity = identityOf(fileIdentity(now), writeAhead ? logOf(realPath) : undefined)
    return identity === connected.identity ? 'same' : 'written'
  }
  return { ...connected, ok: true, size: opened.size, fate, pages: mayReadPages ? pages : null }
}

function statOf(file: string): fs.BigIntStats | undefined {
  return fs.statSync(file, { bigint: true, throwIfNoEntry: false })
}

/** Returns the write-ahead log of a database; undefined if it is empty or absent. */
function logOf(realPath: string): fs.BigIntStats | undefined {
  const log = statOf(`${realPath}-wal`)
  return log !== undefined && log.size > 0n ? log : undefined
}

function identityOf(file: string, log: fs.BigIntStats | undefined): string {
  return log === undefined ? file : `${file}-${log.mtimeNs.toString(36)}-${log.size.toString(36)}`
}

function pageSizeBy(header: Buffer): number {
  const pageSize = header.readUInt16BE(PAGE_SIZE_AT)
  return pageSize === 1 ? 65_536 : pageSize
}

/** Returns the bytes of the whole file after its last writer; 0 if the header does not contain them. */
function sizeBy(header: Buffer): number {
  if (header.readUInt32BE(CHANGES_AT) !== header.readUInt32BE(PAGES_VALID_FOR_AT)) return 0
  return header.readUInt32BE(PAGES_AT) * pageSizeBy(header)
}

function connectTo(opened: OpenedFile, writeAhead: boolean, log: fs.BigIntStats | undefined) {
  return {
    ...openReadOnly(opened.realPath, writeAhead && log === undefined),
    identity: identityOf(opened.identity, log),
    modifiedMs: log === undefined ? opened.mtimeMs : Math.max(opened.mtimeMs, Number(log.mtimeMs)),
  }
}

/**
 * Opens a database. `immutable` avoids SQLite's locks and side files. It is right if no program writes: for a database in write-ahead mode without a log,
 * and as the last resort if locks or side files are impossible (a read-only folder, some network file systems). It ignores journals and logs, so a
 * database with one is never opened so: its pages may hold what was never committed, or lack what was.
 */
function openReadOnly(path: string, immutable: boolean): { database: DatabaseSyncInstance; immutable: boolean } {
  const address = pathToFileURL(path).href
  if (!immutable || unfinishedWrites(path) !== null) {
    try {
      return { database: connect(`${address}?mode=ro`), immutable: false }
    } catch (error) {
      if (!isAboutAccess(error)) throw asArchiveError(error)
    }
  }
  let database: DatabaseSyncInstance
  try {
    database = connect(`${address}?mode=ro&immutable=1`)
  } catch (error) {
    throw withRemedy(unfinishedWrites(path)) ?? asArchiveError(error)
  }
  // Checked last: a writer that begins later changes the identity of the file.
  const refusal = withRemedy(unfinishedWrites(path))
  if (refusal === null) return { database, immutable: true }
  database.close()
  throw refusal
}

function withRemedy(found: UnfinishedWrites | null): BrokenArchiveError | null {
  if (found === null) return null
  return new BrokenArchiveError(sentence(found === 'journal' ? 'said.sqlite_journal' : 'said.sqlite_log'))
}

/** SQLite opens lazily: only the first query shows whether the file can be read. */
function connect(address: string): DatabaseSyncInstance {
  const database = new DatabaseSync(address, { readOnly: true, limits: { length: MAX_VALUE_BYTES, attach: 0 } })
  try {
    // The file may be malicious: nothing in its schema is trusted, its pages are checked when they are read, and a file that
    // is truncated meanwhile must cause an error instead of a crash.
    database.exec(
      'PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON; ' +
        'SELECT count(*) FROM sqlite_schema',
    )
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
