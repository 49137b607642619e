import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { DiskGate } from './disk-gate.js'

/** Size in bytes from which a file is sent faster than memory, and a slow reader costs no copy of it. Tiles have the same limit. */
export const AS_FILE_BYTES = 64 * 1024

const openFile = promisify(fs.open)
const writeWhole = promisify(fs.writeFile)

/** A file that loses its name before anything is written, so that its space is free when it is closed, however its process ends. */
export class UnnamedFile {
  readonly fd: number
  #length = 0
  #isClosed = false

  private constructor(fd: number) {
    this.fd = fd
  }

  /**
   * Writes a new file, or more at the end of one, which belongs to this call then. Returns null if the disk is full or does not respond; nothing is
   * left in that case.
   * @param folder made if it is missing
   */
  static async write(
    disks: DiskGate,
    folder: string,
    parts: readonly Uint8Array[],
    begun: UnnamedFile | null = null,
  ): Promise<UnnamedFile | null> {
    const read = async () => {
      const file = begun ?? (await UnnamedFile.#create(folder))
      try {
        for (const part of parts) await file.#append(part)
        return file
      } catch (error) {
        file.close()
        throw error
      }
    }
    // A file that the disk holds up must not be closed during the write: another one could get its number.
    const written = await disks.run(folder, { read, discard: (late) => late.close() }).catch(() => null)
    return written?.ok === true ? written.value : null
  }

  static async #create(folder: string): Promise<UnnamedFile> {
    await mkdir(folder, { recursive: true })
    const name = path.join(folder, `${randomUUID()}.tmp`)
    const file = new UnnamedFile(await openFile(name, 'wx+', 0o600))
    await unlink(name).catch((error) => {
      file.close()
      throw error
    })
    return file
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    fs.close(this.fd)
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await writeWhole(this.fd, bytes)
    this.#length += bytes.length
  }
}
