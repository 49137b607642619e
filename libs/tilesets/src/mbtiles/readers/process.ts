import fs from 'node:fs'
import { BrokenArchiveError } from '../../broken-archive.js'
import { openMbtiles } from '../archive.js'
import type { MbtilesArchive } from '../opening.js'
import { toText } from '../page-layout.js'
import { isLocked } from '../sqlite-error.js'
import { ANSWER_BYTES, Answer, type FailedText, type OpenedText, REQUEST_BYTES, Request } from './protocol.js'

/**
 * Reads MBTiles for its parent process until that closes the input. It does one thing after the other and waits for each, so
 * nothing here is asynchronous. A process that cannot wait any longer kills it.
 */

const INPUT = 0
const OUTPUT = 1

/** Responses are sent together, up to this size: a call for each tile would cost more than reading it. */
const OUTPUT_BYTES = 256 * 1024

const output = Buffer.allocUnsafeSlow(OUTPUT_BYTES)
let filled = 0

function flush(): void {
  write(output.subarray(0, filled))
  filled = 0
}

function write(bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(OUTPUT, bytes, done)
}

function answer(what: number, id: number, bytes: Uint8Array): void {
  if (filled + ANSWER_BYTES + bytes.length > OUTPUT_BYTES) flush()
  output.writeInt32LE(what, filled)
  output.writeInt32LE(id, filled + 4)
  output.writeInt32LE(bytes.length, filled + 8)
  filled += ANSWER_BYTES
  if (filled + bytes.length <= OUTPUT_BYTES) {
    output.set(bytes, filled)
    filled += bytes.length
    return
  }
  flush()
  write(bytes)
}

/** Maximum number of openings of an archive for one tile. */
const MAX_OPENINGS = 3
const QUIET_MS = 1_000
const NOTHING = new Uint8Array(0)
const inJson = (value: OpenedText | FailedText) => Buffer.from(JSON.stringify(value))

interface Registered {
  readonly root: string
  readonly file: string
  opened: MbtilesArchive | null
  /** in the time of `performance.now()`; null: not written lately, so the positions of its tiles were sent */
  writtenAtMs: number | null
}

const archives = new Map<number, Registered>()
let lastArchive = -1

function answerTile(id: number, archive: number, z: number, x: number, y: number, isLook: boolean): void {
  // If this call hangs, only responses of this archive are unsent, so the other side knows which archive hangs.
  if (archive !== lastArchive) flush()
  lastArchive = archive
  try {
    const tile = readTile(archive, z, x, y)
    if (tile === null) answer(Answer.ABSENT, id, NOTHING)
    else answer(Answer.TILE, id, isLook ? NOTHING : tile)
  } catch (error) {
    const { message } = error as Error
    const failed = { broken: error instanceof BrokenArchiveError, locked: isLocked(error), message }
    answer(Answer.FAILED, id, inJson(failed))
  }
}

/**
 * Reads a tile of the content that the archive's last reported identity names. If the file was written meanwhile, it is opened and reported
 * again. If it was replaced, which only a new scan publishes, it is opened again only if the old file cannot be read on.
 */
function readTile(archive: number, z: number, x: number, y: number): Uint8Array | null {
  for (let openings = 1; ; openings++) {
    const opened = open(archive)
    if (opened === null) return null
    try {
      const tile = opened.tile(z, x, y)
      if (opened.fate() !== 'written') {
        describeIfQuiet(archive)
        return tile
      }
      if (openings === MAX_OPENINGS) throw new Error('the archive is being written to all the time')
    } catch (error) {
      if (openings === MAX_OPENINGS || opened.fate() === 'same') throw error
    }
    closeAgain(archive, performance.now())
  }
}

/** Describing the positions of tiles takes some time, and for a file that was just written they would soon be wrong. */
function describeIfQuiet(archive: number): void {
  const writtenAtMs = archives.get(archive)?.writtenAtMs ?? null
  if (writtenAtMs !== null && performance.now() - writtenAtMs > QUIET_MS) closeAgain(archive, null)
}

function closeAgain(archive: number, writtenAtMs: number | null): void {
  const known = archives.get(archive)
  if (known === undefined) return
  known.opened?.close()
  Object.assign(known, { opened: null, writtenAtMs })
}

function open(archive: number): MbtilesArchive | null {
  const known = archives.get(archive)
  if (known === undefined) return null
  if (known.opened !== null) return known.opened
  const opening = openMbtiles(known.root, known.file, known.writtenAtMs === null)
  if (!opening.ok) return null
  known.opened = opening.archive
  const { identity, modifiedMs, layout } = opening.archive
  answer(Answer.OPENED, archive, inJson({ identity, modifiedMs, layout: layout === null ? null : toText(layout) }))
  return known.opened
}

/** @returns the number of bytes of complete requests in `input`, which have been processed */
function work(input: Buffer): number {
  let at = 0
  while (input.length - at >= REQUEST_BYTES) {
    const what = input.readInt32LE(at)
    const id = input.readInt32LE(at + 4)
    const archive = input.readInt32LE(at + 8)
    const a = input.readInt32LE(at + 12)
    const end = at + REQUEST_BYTES + (what === Request.REGISTER ? a : 0)
    if (end > input.length) break
    if (what === Request.TILE || what === Request.LOOK)
      answerTile(id, archive, a, input.readInt32LE(at + 16), input.readInt32LE(at + 20), what === Request.LOOK)
    else archives.get(archive)?.opened?.close()
    if (what === Request.FORGET) archives.delete(archive)
    if (what === Request.REGISTER) {
      const [root, file] = JSON.parse(input.toString('utf8', at + REQUEST_BYTES, end)) as [string, string]
      archives.set(archive, { root, file, opened: null, writtenAtMs: null })
    }
    at = end
  }
  flush()
  return at
}

// Signals reach the whole process group of a terminal. The parent process decides what they mean.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

answer(Answer.STARTED, 0, NOTHING)
flush()

const chunk = Buffer.allocUnsafeSlow(64 * 1024)
let rest = Buffer.alloc(0)
for (;;) {
  const read = fs.readSync(INPUT, chunk)
  if (read === 0) break
  const input = rest.length === 0 ? chunk.subarray(0, read) : Buffer.concat([rest, chunk.subarray(0, read)])
  rest = Buffer.from(input.subarray(work(input)))
}
