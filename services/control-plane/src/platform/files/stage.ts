import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { isBelow } from '@gateway/core/files/real-root.js'

/** A folder next to the place that files are going to have; its name starts with a dot and ends in `.tmp`: no scan takes it for data. */
export interface Stage {
  readonly folder: string
  /** where a folder goes that has to make room, until the new one is in its place */
  readonly aside: string
}

/** `id` names the delivery or import: what an earlier attempt of the same one left behind is cleared away. `turn` differs for each attempt. */
export function stageIn(parent: string, id: string, turn: number): Stage {
  return { folder: path.join(parent, `.${id}-${turn}.new.tmp`), aside: path.join(parent, `.${id}-${turn}.old.tmp`) }
}

/**
 * Clears away what earlier attempts of `id` left in `parent`. One that died between its two renames left the old folder aside and nothing
 * in its place: the old folder comes back.
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
 * Puts the staged folder in its place. A folder that is there already makes room first: renaming onto a folder that is not empty does not
 * exist in POSIX, so that for the time between two renames there is neither; never half of one.
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

/** Puts staged files in their places, in the order given; each replaces an older one at once. */
export async function placeFiles(stage: Stage, parent: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rename(path.join(stage.folder, name), path.join(parent, name))
  await syncFolder(parent)
  await rm(stage.folder, { recursive: true, force: true })
}

/** Throws where `folder` is, by a symbolic link, not below `root`: nothing is written elsewhere. */
export async function assertBelow(root: string, folder: string): Promise<void> {
  if (!isBelow(await realpath(root), await realpath(folder))) {
    throw new CodedError(coded('delivery_link_outside', { name: path.basename(folder) }))
  }
}

/** Makes the names in a folder durable. */
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
