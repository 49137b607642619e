import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'

/** Returns the name of a file during its writing. It starts with a dot and ends in `.tmp`, so that no scan reads it as data. */
export function temporaryNameBeside(file: string): string {
  return path.join(path.dirname(file), `.${randomBytes(6).toString('hex')}.tmp`)
}

/**
 * Runs `write` with the name of a temporary file, which gets the name `file` when `write` has resolved. If it rejects, no file is left. The folder
 * must exist.
 */
export async function writeUnderTemporaryName<T>(file: string, write: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = temporaryNameBeside(file)
  try {
    const result = await write(temporary)
    await fs.rename(temporary, file)
    return result
  } catch (error) {
    await fs.rm(temporary, { force: true })
    throw error
  }
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
  const how = { flag: 'wx', mode: options.mode ?? 0o666, flush: options.durable === true }
  await writeUnderTemporaryName(file, (temporary) => fs.writeFile(temporary, data, how))
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
