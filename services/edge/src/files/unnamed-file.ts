import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

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

  /** @param folder made if it is missing. Rejects with the error of the disk. */
  static async create(folder: string): Promise<UnnamedFile> {
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

  /** Writes at the end. Rejects with the error of the disk, and has closed the file then. */
  async append(bytes: Uint8Array): Promise<void> {
    try {
      await writeWhole(this.fd, bytes)
      this.#length += bytes.length
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Must not be called during `append`: another file could get the number. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    fs.close(this.fd)
  }
}
