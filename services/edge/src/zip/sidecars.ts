import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'
import { type OpenedFile, openBelow } from '@gateway/files/open-below.js'

export interface Sidecar {
  readonly name: string
  readonly file: OpenedFile
}

/** The opened files of one shapefile, sorted by name. Whoever got it closes them with `closeAll`. */
export interface SidecarSet {
  readonly files: readonly Sidecar[]
  /** names the content of all of them together */
  readonly fingerprint: string
  /** of the newest file, milliseconds since 1970 */
  readonly modifiedMs: number
}

/** Opens a shapefile and what lies beside it under the same base name. null: the shapefile itself is not there. */
export async function openSidecars(root: string, shapefile: string): Promise<SidecarSet | null> {
  const names = await namesBeside(shapefile)
  const files: Sidecar[] = []
  try {
    for (const name of names) {
      const opened = await openBelow(root, path.join(path.dirname(shapefile), name))
      if (opened.ok) files.push({ name, file: opened })
      else if (opened.reason === 'unreadable') throw new Error(`${name} exists, but may not be read`)
    }
  } catch (error) {
    closeAll(files)
    throw error
  }
  if (files.some((sidecar) => sidecar.name === path.basename(shapefile))) return toSet(files)
  closeAll(files)
  return null
}

export function closeAll(files: readonly Sidecar[]): void {
  for (const { file } of files) fs.close(file.fd, () => {})
}

async function namesBeside(shapefile: string): Promise<string[]> {
  const base = path.basename(shapefile).slice(0, -path.extname(shapefile).length)
  const entries = await fs.promises.readdir(path.dirname(shapefile)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  return entries.filter((name) => isPartOfShapefile(base, name)).sort()
}

function toSet(files: readonly Sidecar[]): SidecarSet {
  const hash = createHash('sha256')
  for (const { name, file } of files) hash.update(`${name}\0${file.identity}\0`)
  return {
    files,
    fingerprint: hash.digest('hex').slice(0, 32),
    modifiedMs: Math.max(...files.map(({ file }) => file.mtimeMs)),
  }
}
