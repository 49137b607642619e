import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'

/** The name under which a file is being written; it starts with a dot and ends in `.tmp`, so that no scan takes it for data. */
export function temporaryNameBeside(file: string): string {
  return path.join(path.dirname(file), `.${randomBytes(6).toString('hex')}.tmp`)
}

/**
 * Writes a file so that a reader sees either the old content or all of the new: a temporary file next to it, then a rename. With
 * `durable`, both have reached the disk when this returns. The folder must exist. Nothing is left behind when it throws.
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
