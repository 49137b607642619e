import { createHash } from 'node:crypto'
import { opendirSync, readdirSync, type Stats, statSync } from 'node:fs'
import { opendir, readdir, stat } from 'node:fs/promises'
import { fileCall } from '@gateway/core/files/paced-calls.js'
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

/**
 * Returns the stamp of a folder: the names and times of its files, its zooms and their columns, and of one tile of each zoom. Returns null if links lead
 * elsewhere, if this is not a folder of tiles, or if it cannot be read.
 */
export async function stampOf(folder: string): Promise<Stamp | null> {
  try {
    return await stamped(folder)
  } catch {
    return null
  }
}

async function stamped(folder: string): Promise<Stamp | null> {
  const hash = createHash('sha256')
  let newestMs = 0
  const note = ({ mtimeMs, ctimeMs, size, ino }: Stats): void => {
    newestMs = Math.max(newestMs, mtimeMs, ctimeMs)
    hash.update(`${mtimeMs} ${size} ${ino}\n`)
  }
  note(await statOf(folder))
  const entries = await entriesOf(folder)
  if (entries.length > MAX_NAMES) return null
  for (const entry of entries) {
    if (entry.isSymbolicLink()) return null
    const path = `${folder}/${entry.name}`
    hash.update(`${entry.name} `)
    note(await statOf(path))
    if (!entry.isDirectory() || !/^\d{1,2}$/.test(entry.name)) continue
    const columns = await entriesOf(path)
    if (columns.some((column) => column.isSymbolicLink())) return null
    for (const { name } of spread(columns, MAX_STATTED_COLUMNS)) note(await statOf(`${path}/${name}`))
    const [first] = columns
    if (!first?.isDirectory()) continue
    const tile = await firstNameIn(`${path}/${first.name}`)
    if (tile !== null) note(await statOf(`${path}/${first.name}/${tile}`))
  }
  return { text: hash.digest('base64url'), newestMs }
}

const statOf = (path: string) =>
  fileCall(
    () => statSync(path),
    () => stat(path),
  )

const entriesOf = (folder: string) =>
  fileCall(
    () => readdirSync(folder, { withFileTypes: true }),
    () => readdir(folder, { withFileTypes: true }),
  )

/** The first name in a folder of many; null if it is empty. */
const firstNameIn = (folder: string) =>
  fileCall(
    () => {
      const opened = opendirSync(folder, { bufferSize: 1 })
      try {
        return opened.readSync()?.name ?? null
      } finally {
        opened.closeSync()
      }
    },
    async () => {
      // Closes itself at the end of the loop.
      for await (const { name } of await opendir(folder, { bufferSize: 1 })) return name
      return null
    },
  )
