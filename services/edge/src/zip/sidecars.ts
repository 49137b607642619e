import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { type OpenedFile, openBelow } from '@gateway/core/files/open-below.js'
import { namesBeside } from '../files/names-beside.js'
import type { TextEncoding } from '../sync/catalog.js'

export interface Sidecar {
  readonly name: string
  readonly file: OpenedFile
}

/** The opened files of one shapefile, sorted by name. The caller closes them with `closeAll`. */
export interface SidecarSet {
  readonly files: readonly Sidecar[]
  /**
   * The .cpg that is added to them, with the encoding of the table; null if they have one that programs read, or if the encoding is not known.
   */
  readonly cpg: { readonly name: string; readonly content: string } | null
  /** Identifies the content of all files together. */
  readonly fingerprint: string
  /** Time of the newest file, milliseconds since 1970. */
  readonly modifiedMs: number
}

/**
 * Opens a shapefile and the files next to it with the same base name. Returns null if the shapefile itself does not exist.
 * @param encoding of its table, if it is known; if an operator has set it, or other programs do not read it, the .cpg of the shapefile is omitted
 */
export async function openSidecars(
  root: string,
  shapefile: string,
  encoding: TextEncoding | null,
): Promise<SidecarSet | null> {
  const beside = await namesBeside(shapefile)
  const names = encoding?.isSet ? beside.filter((name) => !isCpg(name)) : beside
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
  const unknown = encoding === null ? undefined : files.find(({ name, file }) => isCpg(name) && isOfNoProgram(file))
  if (unknown !== undefined) {
    closeAll([unknown])
    files.splice(files.indexOf(unknown), 1)
  }
  if (files.some((sidecar) => sidecar.name === path.basename(shapefile)))
    return toSet(files, missingCpg(shapefile, files, encoding))
  closeAll(files)
  return null
}

export function closeAll(files: readonly Sidecar[]): void {
  for (const { file } of files) fs.close(file.fd, () => {})
}

export function baseOf(shapefile: string): string {
  return path.basename(shapefile).slice(0, -path.extname(shapefile).length)
}

/**
 * Returns a .cpg for a table without one, because most programs then assume their own encoding, regardless of the table's
 * header.
 */
export function missingCpg(
  shapefile: string,
  files: readonly { readonly name: string }[],
  encoding: TextEncoding | null,
): SidecarSet['cpg'] {
  const hasTable = files.some(({ name }) => name.toLowerCase().endsWith('.dbf'))
  if (encoding === null || !hasTable || files.some(({ name }) => isCpg(name))) return null
  return { name: `${baseOf(shapefile)}.cpg`, content: encoding.name }
}

/** True if a .cpg names its page in the form of ESRI's older programs (`OEM 936`), which others do not read. */
function isOfNoProgram({ fd }: OpenedFile): boolean {
  const start = Buffer.alloc(16)
  fs.readSync(fd, start, 0, start.length, 0)
  return /^\s*(?:OEM|ANSI)\s/i.test(start.toString('latin1'))
}

export function isCpg(name: string): boolean {
  return name.toLowerCase().endsWith('.cpg')
}

function toSet(files: readonly Sidecar[], cpg: SidecarSet['cpg']): SidecarSet {
  const parts = files.map(({ name, file: { identity } }) => ({ name, identity }))
  return {
    files,
    cpg,
    fingerprint: fingerprintOf(parts, cpg),
    modifiedMs: Math.max(...files.map(({ file }) => file.mtimeMs)),
  }
}

/** Returns `SidecarSet.fingerprint` of parts, from the identities of their contents. */
export function fingerprintOf(
  parts: readonly { readonly name: string; readonly identity: string }[],
  cpg: SidecarSet['cpg'],
): string {
  const hash = createHash('sha256')
  for (const { name, identity } of parts) hash.update(`${name}\0${identity}\0`)
  if (cpg !== null) hash.update(`${cpg.name}\0${cpg.content}\0`)
  return hash.digest('hex').slice(0, 32)
}
