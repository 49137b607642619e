import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { isBelow } from '@gateway/core/files/real-root.js'

/** A folder next to the final place of files. Its name starts with a dot and ends in `.tmp`, so no scan reads it as data. */
export interface Stage {
  readonly folder: string
  /** path to which an existing folder is moved until the new one is in its place */
  readonly aside: string
}

/** @param id the delivery or import; leftovers of an earlier attempt of it are removed @param turn differs for each attempt */
export function stageIn(parent: string, id: string, turn: number): Stage {
  return { folder: path.join(parent, `.${id}-${turn}.new.tmp`), aside: path.join(parent, `.${id}-${turn}.old.tmp`) }
}

/**
 * Removes leftovers of earlier attempts of `id` in `parent`. An attempt that died between its two renames left the old folder aside and nothing
 * in its place. In that case the old folder is restored.
 */
export async function clearStages(parent: string, id: string, place: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`.${id}-`) || !name.endsWith('.tmp')) continue
    const left = path.join(parent, name)
    if (name.endsWith('.old.tmp') && !(await exists(place))) await rename(left, place)
    else await rm(left, { recursive: true, force: true })
  }
}

/**
 * Moves the staged folder to its place. An existing folder is moved aside first, because POSIX cannot rename onto a folder that is not empty. So
 * between two renames neither folder is in place, and never half of one.
 */
export async function placeFolder(stage: Stage, place: string): Promise<void> {
  const replaces = await exists(place)
  if (replaces) await rename(place, stage.aside)
  try {
    await rename(stage.folder, place)
  } catch (error) {
    if (replaces) await rename(stage.aside, place)
    throw error
  }
  await syncFolder(path.dirname(place))
  await rm(stage.aside, { recursive: true, force: true })
}

/** Moves staged files to their places, in the given order. Each replaces an older file atomically. */
export async function placeFiles(stage: Stage, parent: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rename(path.join(stage.folder, name), path.join(parent, name))
  await syncFolder(parent)
  await rm(stage.folder, { recursive: true, force: true })
}

/** Throws if a symbolic link leads `folder` out of `root`, so that nothing is written elsewhere. */
export async function assertBelow(root: string, folder: string): Promise<void> {
  if (!isBelow(await realpath(root), await realpath(folder))) {
    throw new CodedError(coded('delivery_link_outside', { name: path.basename(folder) }))
  }
}

/** Syncs the names in a folder to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
}
