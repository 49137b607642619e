import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BrokenArchiveError } from '../broken-archive.js'
import { openMbtiles } from './archive.js'
import { openDatabase } from './database.js'
import { probeMbtiles } from './probe.js'
import { hasUnfinishedWrites, unfinishedWrites } from './unfinished-writes.js'

const TILES = 64
const SCHEMA = `CREATE TABLE metadata (name text, value text);
  CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob);
  CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)`

let folder: string
let live: string
let left: string

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'unfinished-'))
  live = path.join(folder, 'live.mbtiles')
  left = path.join(folder, 'left.mbtiles')
  const writer = new DatabaseSync(live)
  writer.exec(`${SCHEMA}; BEGIN`)
  const insert = writer.prepare('INSERT INTO tiles VALUES (3, ?, ?, ?)')
  for (let i = 0; i < TILES; i++) insert.run(i >> 3, i & 7, tileOf('committed'))
  writer.exec('COMMIT')
  writer.close()
})

afterEach(() => fs.rmSync(folder, { recursive: true }))

const tileOf = (words: string) => Buffer.from(`\x89PNG\r\n\x1a\n${words}`.padEnd(4096), 'latin1')

/** Leaves the files as a writer does that is killed while `work` is not committed: without locks, and with pages that its cache had no room for. */
function killWhile(before: string, work: string): void {
  const writer = new DatabaseSync(live)
  writer.exec(`${before}; PRAGMA cache_size = 5; PRAGMA synchronous = FULL; BEGIN; ${work}`)
  for (const side of ['', '-journal', '-wal']) {
    if (fs.existsSync(live + side)) fs.copyFileSync(live + side, left + side)
  }
  writer.exec('ROLLBACK')
  writer.close()
}

const UPDATE = `UPDATE tiles SET tile_data = CAST('${tileOf('uncommitted').toString('latin1').slice(8)}' AS BLOB)`

const readAll = () => {
  const opening = openMbtiles(folder, left)
  if (!opening.ok) throw new Error(opening.reason)
  try {
    return Array.from({ length: TILES }, (_, i) =>
      Buffer.from(opening.archive.tile(3, i >> 3, 7 - (i & 7)) ?? []).toString('latin1'),
    )
  } finally {
    opening.archive.close()
  }
}

describe('a database whose writer was killed', () => {
  it('has pages that were never committed, and is left out with the remedy', async () => {
    killWhile('', UPDATE)
    expect(fs.readFileSync(left).includes('uncommitted')).toBe(true)
    for (const use of [readAll, () => probeMbtiles(folder, left), () => openDatabase(folder, left)]) {
      expect(use).toThrow(BrokenArchiveError)
      expect(use).toThrow(/rollback journal.*open it once with a program that may write/)
    }
    expect(unfinishedWrites(left)).toBe('journal')
    expect(await hasUnfinishedWrites(left)).toBe(true)
  })

  it('is left out in write-ahead mode too, which it was about to enter', () => {
    killWhile('', UPDATE)
    const fd = fs.openSync(left, 'r+')
    fs.writeSync(fd, Buffer.from([2, 2]), 0, 2, 18)
    fs.closeSync(fd)
    expect(() => openDatabase(folder, left)).toThrow(BrokenArchiveError)
  })

  it('is served with what was committed, as soon as a program has rolled it back', async () => {
    killWhile('', UPDATE)
    const remedy = new DatabaseSync(left)
    remedy.exec('SELECT count(*) FROM sqlite_schema')
    remedy.close()
    expect(readAll().every((tile) => tile.includes('PNG') && tile.includes('committed') && !tile.includes('un'))).toBe(
      true,
    )
    expect(await hasUnfinishedWrites(left)).toBe(false)
  })

  it('is left out if a folder has the name of its journal, by which SQLite cannot open it', async () => {
    fs.copyFileSync(live, left)
    fs.mkdirSync(`${left}-journal`)
    fs.writeFileSync(path.join(`${left}-journal`, 'x'), '')
    expect(() => probeMbtiles(folder, left)).toThrow(BrokenArchiveError)
    expect([unfinishedWrites(left), await hasUnfinishedWrites(left)]).toEqual(['journal', true])
  })

  it.each(['TRUNCATE', 'PERSIST'])('is complete with the journal that %s leaves after a commit', (mode) => {
    const writer = new DatabaseSync(live)
    writer.exec(`PRAGMA journal_mode = ${mode}; INSERT INTO metadata VALUES ('name', 'x')`)
    fs.copyFileSync(live, left)
    fs.copyFileSync(`${live}-journal`, `${left}-journal`)
    writer.close()
    expect(unfinishedWrites(left)).toBeNull()
    expect(probeMbtiles(folder, left)?.name).toBe('x')
  })
})

describe('a database with a write-ahead log', () => {
  beforeEach(() => {
    const writer = new DatabaseSync(live)
    writer.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0`)
    writer.exec("INSERT INTO metadata VALUES ('name', 'in the log')")
    fs.copyFileSync(live, left)
    fs.copyFileSync(`${live}-wal`, `${left}-wal`)
    writer.close()
  })

  it('shows its content', async () => {
    expect(probeMbtiles(folder, left)?.name).toBe('in the log')
    expect(await hasUnfinishedWrites(left)).toBe(true)
  })

  it('is left out with the remedy if the log cannot be read', () => {
    // As in a folder without write permission, which root never meets.
    fs.symlinkSync(path.join(folder, 'nowhere', 'shm'), `${left}-shm`)
    for (const use of [readAll, () => probeMbtiles(folder, left)]) {
      expect(use).toThrow(BrokenArchiveError)
      expect(use).toThrow(/write-ahead log.*wal_checkpoint/)
    }
  })
})
