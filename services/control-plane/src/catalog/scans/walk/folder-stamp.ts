import { createHash } from 'node:crypto'
import { type Dirent, opendirSync, readdirSync, type Stats, statSync } from 'node:fs'
import { opendir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { spread } from '@gateway/tilesets/folder/listing.js'

/** Limit: columns of a zoom whose times are read, as in a fingerprint. */
const MAX_STATTED_COLUMNS = 1_024

/** Limit: names at the top of a folder of tiles; a folder with more is something else. */
const MAX_NAMES = 1_024

export interface Stamp {
  readonly text: string
  /** time of the latest change that the stamp covers */
  readonly newestMs: number
}

/** The file system calls of a stamp, one after the other. */
type Ask = { readonly stat: string } | { readonly list: string } | { readonly first: string }
type Answer = Stats & Dirent[] & (string | null)

/**
 * Returns the stamp of a folder by synchronous calls, because thousands of short calls cost a tenth of the time that they take through threads.
 * Returns null if links lead elsewhere, or if this is not a folder of tiles.
 */
export function stampNow(folder: string): Stamp | null {
  return run(stamping(folder), (ask) => {
    if ('stat' in ask) return statSync(ask.stat)
    if ('list' in ask) return readdirSync(ask.list, { withFileTypes: true })
    const opened = opendirSync(ask.first, { bufferSize: 1 })
    try {
      return opened.readSync()?.name ?? null
    } finally {
      opened.closeSync()
    }
  })
}

/** The same through threads, several folders at a time: for mounts that take milliseconds to answer. */
export async function stampLater(folder: string): Promise<Stamp | null> {
  const steps = stamping(folder)
  try {
    let step = steps.next()
    while (!step.done) step = steps.next((await answer(step.value)) as Answer)
    return step.value
  } catch {
    return null
  }
}

function run(steps: Generator<Ask, Stamp | null, Answer>, answer: (ask: Ask) => unknown): Stamp | null {
  try {
    let step = steps.next()
    while (!step.done) step = steps.next(answer(step.value) as Answer)
    return step.value
  } catch {
    return null
  }
}

async function answer(ask: Ask): Promise<unknown> {
  if ('stat' in ask) return stat(ask.stat)
  if ('list' in ask) return readdir(ask.list, { withFileTypes: true })
  // Closes itself at the end of the loop.
  for await (const { name } of await opendir(ask.first, { bufferSize: 1 })) return name
  return null
}

/** The names and times of a folder, its files, its zooms and their columns, and of one tile of each zoom. */
function* stamping(folder: string): Generator<Ask, Stamp | null, Answer> {
  const hash = createHash('sha256')
  let newestMs = 0
  const note = ({ mtimeMs, ctimeMs, size, ino }: Stats): void => {
    newestMs = Math.max(newestMs, mtimeMs, ctimeMs)
    hash.update(`${mtimeMs} ${size} ${ino}\n`)
  }
  note(yield { stat: folder })
  const entries = yield { list: folder }
  if (entries.length > MAX_NAMES) return null
  for (const entry of entries) {
    if (entry.isSymbolicLink()) return null
    const path = join(folder, entry.name)
    hash.update(`${entry.name} `)
    note(yield { stat: path })
    if (!entry.isDirectory() || !/^\d{1,2}$/.test(entry.name)) continue
    const columns = yield { list: path }
    if (columns.some((column) => column.isSymbolicLink())) return null
    for (const { name } of spread(columns, MAX_STATTED_COLUMNS)) note(yield { stat: join(path, name) })
    const [first] = columns
    if (!first?.isDirectory()) continue
    const tile: string | null = yield { first: join(path, first.name) }
    if (tile !== null) note(yield { stat: join(path, first.name, tile) })
  }
  return { text: hash.digest('base64url'), newestMs }
}
