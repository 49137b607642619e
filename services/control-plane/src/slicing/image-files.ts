import { readdir, realpath, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { isBelow } from '@gateway/files/real-root.js'
import { isPlainPath } from '@gateway/tiling/plain-path.js'

interface Item {
  readonly name: string
  readonly path: string
  readonly kind: 'file' | 'directory'
  readonly size: number
}

export type Listed = { readonly ok: true; readonly items: Item[] } | Refusal

const IMAGES: ReadonlySet<string> = new Set(['.tif', '.tiff', '.jpg', '.jpeg', '.png'])
/** A picker that lists more helps nobody. */
const MAX_ITEMS = 2000

/** The folders and images of a directory within the allowed roots; without roots, of any directory. */
export async function listImageFiles(roots: readonly string[], dir: string | undefined): Promise<Listed> {
  if (dir === undefined) {
    const places = roots.length > 0 ? roots : ['/']
    return { ok: true, items: places.map((path) => ({ name: path, path, kind: 'directory', size: 0 })) }
  }
  if (!isPlainPath(dir)) return refuse('invalid_parameters', 'dir: must be an absolute path')
  try {
    const real = await realpath(dir)
    if (!(await isAllowed(real, roots))) return refuse('invalid_parameters', 'dir: lies outside of SLICE_SOURCE_ROOTS')
    return { ok: true, items: await itemsOf(real) }
  } catch {
    return refuse('not_found', 'no such directory, or it cannot be read')
  }
}

async function isAllowed(real: string, roots: readonly string[]): Promise<boolean> {
  if (roots.length === 0) return true
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => null)
    if (realRoot !== null && (real === realRoot || isBelow(realRoot, real))) return true
  }
  return false
}

async function itemsOf(directory: string): Promise<Item[]> {
  const items: Item[] = []
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || items.length >= MAX_ITEMS) continue
    const path = join(directory, entry.name)
    if (entry.isDirectory()) items.push({ name: entry.name, path, kind: 'directory', size: 0 })
    else if (entry.isFile() && IMAGES.has(extname(entry.name).toLowerCase())) {
      const { size } = await stat(path)
      items.push({ name: entry.name, path, kind: 'file', size })
    }
  }
  return items.sort((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name))
}
