import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import type { BackgroundLoop } from '../../platform/background.js'

/** Identifies this process among all processes that ever ran on this machine. */
const OWN = { host: hostname(), pid: process.pid, start: randomUUID().slice(0, 8) }

/** Matches temporary files of an import: the received body, its unpacked parts, and the ones that these replaced (see `stageIn`). */
const KEPT = /^\.(.+)~(\d+)~(\w+)~[\w-]+(?:\.spool|-\d+\.(?:new|old|kept))\.tmp$/

/** Returns an id for an import that contains the id of its process. */
export function importId(): string {
  return `${OWN.host}~${OWN.pid}~${OWN.start}~${randomUUID()}`
}

/** True if a name belongs to an import of this machine whose process has ended. */
export function isLeftover(name: string): boolean {
  const [, host, pid, start] = KEPT.exec(name) ?? []
  if (host !== OWN.host || start === OWN.start) return false
  return Number(pid) === OWN.pid || !isAlive(Number(pid))
}

/** Deletes leftovers of interrupted imports below `folder`. Returns the number of deleted files and folders. */
export async function removeLeftovers(folder: string): Promise<number> {
  // Folders of tiles are not searched: temporary files are next to a version, and next to a vector at any depth.
  const places = [
    '.',
    'basemaps',
    'styles',
    ...(await foldersIn(folder, 'styles', false)),
    ...(await foldersIn(folder, 'basemaps', false)),
    ...(await foldersIn(folder, 'vectors', true)),
  ]
  let removed = 0
  for (const place of places) {
    const names = (await entriesOf(path.join(folder, place))).map((entry) => entry.name)
    // Killed between two renames: the old folder is then in no other place.
    const isOnlyCopy = (name: string) =>
      name.endsWith('.old.tmp') && names.includes(name.replace(/old\.tmp$/, 'new.tmp'))
    for (const name of names.filter((one) => isLeftover(one) && !isOnlyCopy(one))) {
      await rm(path.join(folder, place, name), { recursive: true, force: true })
      removed++
    }
  }
  return removed
}

/** Runs once at the start, for leftovers of killed processes. */
export const importLeftovers: BackgroundLoop = {
  name: 'leftovers of imports',
  async run({ settings, log }) {
    try {
      const removed = await removeLeftovers(path.join(settings.dataDir, 'imports'))
      if (removed > 0) log.info({ removed }, 'leftovers of interrupted imports were deleted')
    } catch (error) {
      log.warn({ err: error }, 'leftovers of interrupted imports could not be deleted; the next start tries again')
    }
  },
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Returns the place and the folders in it, or at any depth below it, relative to `root`. Empty if the place does not exist. */
async function foldersIn(root: string, place: string, anyDepth: boolean): Promise<string[]> {
  const found = [place]
  for (const entry of await entriesOf(path.join(root, place))) {
    if (!entry.isDirectory() || KEPT.test(entry.name)) continue
    const inner = path.join(place, entry.name)
    found.push(...(anyDepth ? await foldersIn(root, inner, true) : [inner]))
  }
  return found
}

async function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}
