import { createHash } from 'node:crypto'

/** The files that belong to a shapefile, beside the `.shp` itself, by what comes after the common base name. */
export const SIDECAR_EXTENSIONS: ReadonlySet<string> = new Set([
  'shx',
  'dbf',
  'prj',
  'cpg',
  'qpj',
  'qix',
  'qmd',
  'sbn',
  'sbx',
  'fbn',
  'fbx',
  'ain',
  'aih',
  'atx',
  'ixs',
  'mxs',
  'cst',
  'xml',
  'shp.xml',
])

/** Whether a file name in the same folder belongs to the shapefile of that base name (without `.shp`). */
export function isPartOf(base: string, name: string): boolean {
  if (!name.startsWith(`${base}.`)) return false
  const extension = name.slice(base.length + 1).toLowerCase()
  return extension === 'shp' || SIDECAR_EXTENSIONS.has(extension)
}

export interface FilePart {
  readonly name: string
  readonly size: number
  readonly mtimeMs: number
}

/** Changes when a part was added, removed or written. */
export function fingerprintOf(parts: readonly FilePart[]): string {
  const hash = createHash('sha256')
  for (const part of [...parts].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    hash.update(`${part.name}\0${part.size}\0${part.mtimeMs}\0`)
  }
  return hash.digest('base64url').slice(0, 22)
}
