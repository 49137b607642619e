import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'

/** Returns the name of a file during its writing. It starts with a dot and ends in `.tmp`, so that no scan reads it as data. */
export function temporaryNameBeside(file: string): string {
  return path.join(path.dirname(file), `.${randomBytes(6).toString('hex')}.tmp`)
}

/**
 * Writes a file so that a reader sees either the old content or the complete new content: a temporary file next to it, then a rename. With
 * `durable`, both have reached the disk when this returns. The folder must exist. If it throws, it leaves no temporary file.
 */
export async function writeFileAtomically(
  file: string,
  data: string | Uint8Array | Iterable<Uint8Array>,
  options: { readonly mode?: number; readonly durable?: boolean } = {},
): Promise<void> {
  const temporary = temporaryNameBeside(file)
  try {
    await fs.writeFile(temporary, data, { flag: 'wx', mode: options.mode ?? 0o666, flush: options.durable === true })
    await fs.rename(temporary, file)
  } catch (error) {
    await fs.rm(temporary, { force: true })
    throw error
  }
  if (options.durable === true) await syncFolder(path.dirname(file))
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
