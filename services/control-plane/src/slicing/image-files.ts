import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { isPlainPath } from '@gateway/contracts/tiling/plain-path.js'
import { placeWithin } from '@gateway/core/files/open-within.js'
import { isRemote } from '@gateway/core/object-storage/location.js'

export interface ImageFile {
  readonly name: string
  readonly path: string
  readonly kind: 'file' | 'directory'
  readonly size: number
}

export type Listed = { readonly ok: true; readonly items: ImageFile[] } | Refusal

const IMAGES: ReadonlySet<string> = new Set(['.tif', '.tiff', '.jpg', '.jpeg', '.png', '.jp2', '.j2k'])
/** Maximum number of entries. Nobody can pick from a longer list. */
const MAX_ITEMS = 2000

/** Lists the folders and images of a directory within the allowed roots; without roots, of any directory. Buckets among the roots are not listed. */
export async function listImageFiles(places: readonly string[], dir: string | undefined): Promise<Listed> {
  const roots = places.length > 0 ? places.filter((place) => !isRemote(place)) : ['/']
  if (dir === undefined) {
    return { ok: true, items: roots.map((path) => ({ name: path, path, kind: 'directory', size: 0 })) }
  }
  if (!isPlainPath(dir)) return refuse('invalid_parameters', coded('slice_dir_not_absolute'))
  try {
    const place = await placeWithin(roots, dir)
    if (place.ok) return { ok: true, items: await itemsOf(place.realPath) }
    if (place.reason === 'outside') return refuse('invalid_parameters', coded('slice_dir_outside'))
  } catch {
    // Refused below.
  }
  return refuse('not_found', coded('directory_not_readable'))
}

async function itemsOf(directory: string): Promise<ImageFile[]> {
  const items: ImageFile[] = []
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || items.length >= MAX_ITEMS) continue
    const path = join(directory, entry.name)
    if (entry.isDirectory()) items.push({ name: entry.name, path, kind: 'directory', size: 0 })
    else if (entry.isFile() && IMAGES.has(extname(entry.name).toLowerCase())) {
      // A file that has gone since the folder was read is omitted, and the folder is not refused.
      const size = await stat(path).then(
        (file) => file.size,
        () => null,
      )
      if (size !== null) items.push({ name: entry.name, path, kind: 'file', size })
    }
  }
  return items.sort((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name))
}
