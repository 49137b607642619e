import { readlink, realpath } from 'node:fs/promises'
import path from 'node:path'
import { type NotOpened, type Opening, openBelow } from './open-below.js'
import { isBelow } from './real-root.js'

/** The destination of a path without symbolic links, and the real root that contains it. */
export interface PlaceWithin {
  readonly ok: true
  readonly root: string
  readonly realPath: string
}

/** Maximum number of symbolic links that are followed; the same as in Linux. */
const MAX_LINKS = 40

/**
 * Opens a plain file inside one of `roots`, or anywhere if `roots` is empty. Its place is checked before it is opened (`placeWithin`), and again
 * afterwards, in case a link was swapped between the two.
 */
export async function openWithin(roots: readonly string[], file: string): Promise<Opening> {
  if (roots.length === 0) return openBelow('/', file)
  const place = await placeWithin(roots, file)
  return place.ok ? openBelow(place.root, place.realPath) : place
}

/**
 * Follows an absolute path step by step within `roots`, each by its given name and its real one. As soon as the path or a link leads out of
 * them, the result is `outside`, and nothing there is touched: neither the result nor its time reveals what exists there.
 * Throws errors that do not concern the file itself (EIO, ESTALE ...).
 */
export async function placeWithin(roots: readonly string[], file: string): Promise<PlaceWithin | NotOpened> {
  const known = await Promise.all(roots.map(async (root) => ({ name: path.resolve(root), real: await realOf(root) })))
  const enter = (absolute: string): Step | null => {
    for (const { name, real } of known) {
      if (real === null) continue
      const base = [name, real].find((each) => isBelow(each, absolute))
      if (base !== undefined) return { root: real, at: real, left: partsOf(absolute.slice(base.length)) }
    }
    return null
  }
  let step = enter(path.resolve(file))
  for (let links = 0; links <= MAX_LINKS; links++) {
    if (step === null) return { ok: false, reason: 'outside' }
    const next = await walk(step)
    if ('reason' in next) return next
    if (next.link === null) return { ok: true, root: step.root, realPath: next.at }
    step = path.isAbsolute(next.link)
      ? enter(path.resolve(next.link, ...next.left))
      : inside(next, partsOf(next.link), step.root, enter)
  }
  return { ok: false, reason: 'absent' }
}

interface Step {
  readonly root: string
  /** resolved part of the path */
  readonly at: string
  readonly left: readonly string[]
}

/** Follows the path to its end or to the first symbolic link. */
async function walk({
  at,
  left,
}: Step): Promise<{ at: string; link: string | null; left: readonly string[] } | NotOpened> {
  let here = at
  for (const [index, name] of left.entries()) {
    const next = path.join(here, name)
    try {
      const link = await readlink(next)
      return { at: here, link, left: left.slice(index + 1) }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EACCES' || code === 'EPERM') return { ok: false, reason: 'unreadable' }
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return { ok: false, reason: 'absent' }
      // EINVAL: the entry is not a link.
      if (code !== 'EINVAL') throw error
    }
    here = next
  }
  return { at: here, link: null, left: [] }
}

/** Resolves a relative link, whose `..` may lead out of the root and into another one. */
function inside(
  { at, left }: { at: string; left: readonly string[] },
  link: readonly string[],
  root: string,
  enter: (absolute: string) => Step | null,
): Step | null {
  const climbs = link.lastIndexOf('..') + 1
  // The start of the climbs is a real path. Names between the climbs are taken as written.
  const from = path.resolve(at, ...link.slice(0, climbs))
  const rest = [...link.slice(climbs), ...left]
  return isBelow(root, from) ? { root, at: from, left: rest } : enter(path.join(from, ...rest))
}

function partsOf(text: string): string[] {
  return text.split('/').filter((name) => name !== '' && name !== '.')
}

/** Returns null if the root does not exist, and so contains nothing. */
async function realOf(root: string): Promise<string | null> {
  return realpath(root).catch(() => null)
}
