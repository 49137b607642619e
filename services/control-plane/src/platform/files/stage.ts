import { link, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { isBelow } from '@gateway/core/files/real-root.js'

/** A folder next to the final place of files. Its name starts with a dot and ends in `.tmp`, so no scan reads it as data. */
export interface Stage {
  readonly folder: string
  /** path to which an existing folder is moved until the new one is in its place */
  readonly aside: string
  /** folder of the files that were replaced, until the new ones are accepted */
  readonly kept: string
}

/** Files in their place, which can be taken back. Exactly one of both is called. */
export interface Placed {
  /** Removes what was replaced. */
  done(): Promise<void>
  /** Restores what was there before. */
  undo(): Promise<void>
}

/** @param id the delivery or import; leftovers of an earlier attempt of it are removed @param turn differs for each attempt */
export function stageIn(parent: string, id: string, turn: number): Stage {
  const named = (state: string) => path.join(parent, `.${id}-${turn}.${state}.tmp`)
  return { folder: named('new'), aside: named('old'), kept: named('kept') }
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
export async function placeFolder(stage: Stage, place: string): Promise<Placed> {
  const replaces = await exists(place)
  if (replaces) await rename(place, stage.aside)
  try {
    await rename(stage.folder, place)
  } catch (error) {
    if (replaces) await rename(stage.aside, place)
    throw error
  }
  await syncFolder(path.dirname(place))
  return {
    done: () => rm(stage.aside, { recursive: true, force: true }),
    undo: async () => {
      await rm(place, { recursive: true, force: true })
      if (replaces) await rename(stage.aside, place)
    },
  }
}

/**
 * Moves staged files to their places, in the given order. Each replaces an older file atomically.
 * @param superseded names of files that are removed
 */
export async function placeFiles(
  stage: Stage,
  parent: string,
  names: readonly string[],
  superseded: readonly string[],
): Promise<Placed> {
  await mkdir(stage.kept)
  const keep = (name: string) =>
    link(path.join(parent, name), path.join(stage.kept, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  for (const name of names) {
    await keep(name)
    await rename(path.join(stage.folder, name), path.join(parent, name))
  }
  await syncFolder(parent)
  for (const name of superseded) await rename(path.join(parent, name), path.join(stage.kept, name))
  await rm(stage.folder, { recursive: true, force: true })
  return {
    done: () => rm(stage.kept, { recursive: true, force: true }),
    undo: async () => {
      const before = await readdir(stage.kept)
      for (const name of names) if (!before.includes(name)) await rm(path.join(parent, name), { force: true })
      for (const name of before) await rename(path.join(stage.kept, name), path.join(parent, name))
      await rm(stage.kept, { recursive: true, force: true })
    },
  }
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
