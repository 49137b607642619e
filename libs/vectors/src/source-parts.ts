import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SHAPEFILE_EXTENSIONS } from '@gateway/contracts/shapefile.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { fileIdentity } from '@gateway/core/files/open-below.js'

/** Groups the names of sidecar files by the base name of their shapefile. The case of extensions is ignored, that of base names is not. */
export function partsByBase(names: readonly string[]): Map<string, string[]> {
  const parts = new Map<string, string[]>()
  for (const name of names) {
    const base = baseOf(name)
    if (base === null) continue
    const same = parts.get(base)
    if (same === undefined) parts.set(base, [name])
    else same.push(name)
  }
  return parts
}

function baseOf(name: string): string | null {
  if (name.toLowerCase().endsWith('.shp.xml')) return name.slice(0, -'.shp.xml'.length)
  const dot = name.lastIndexOf('.')
  const extension = name.slice(dot + 1).toLowerCase()
  // The shapefile itself is not a sidecar.
  return dot > 0 && extension !== 'shp' && SHAPEFILE_EXTENSIONS.has(extension) ? name.slice(0, dot) : null
}

export interface FilePart {
  readonly name: string
  /** bytes */
  readonly size: number
  readonly mtimeMs: number
  /** changes when the file is written or replaced */
  readonly identity: string
}

/** Changes when a part was added, removed, written or replaced. */
export function fingerprintOf(parts: readonly FilePart[]): string {
  const hash = createHash('sha256')
  for (const part of [...parts].sort((a, b) => (a.name < b.name ? -1 : 1)))
    hash.update(`${part.name}\0${part.identity}\0`)
  return hash.digest('base64url').slice(0, 22)
}

/** The parts in a folder, in the order of the names; those that have gone meanwhile are left out. */
export function partsIn(folder: string, names: readonly string[]): FilePart[] {
  return names.flatMap((name) => {
    const stat = statSync(join(folder, name), {
      bigint: true,
      throwIfNoEntry: false,
    })
    if (stat === undefined) return []
    return [
      {
        name,
        size: Number(stat.size),
        mtimeMs: Number(stat.mtimeMs),
        identity: fileIdentity(stat),
      },
    ]
  })
}

/** Returns the current parts of a vector on the disk: the file itself, and the sidecar files of a shapefile. */
export function partsOf(path: string, kind: VectorKind): FilePart[] {
  const folder = dirname(path)
  const name = basename(path)
  if (kind !== 'shapefile') return partsIn(folder, [name])
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isDirectory())
  const parts = partsByBase(files.map((entry) => entry.name)).get(name.slice(0, name.lastIndexOf('.')))
  return partsIn(folder, [name, ...(parts ?? [])])
}
